import { listen } from "../control/bell.ts";
import type { Cancellation } from "../control/cancellation.ts";
import { LONGEST } from "../control/clock.ts";
import { CancelRequest } from "../journal/cancel-run.ts";
import type { CancelPayload, ThreadMail } from "../run/mail.ts";

/** Looks for a message that cancels a run: at every renewal of its lease, and at once if it is sent in this process. */
export class CancelWatch {
  readonly #mail: ThreadMail;
  readonly #run: string;
  readonly #cancellation: Cancellation;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #unlisten: () => void;

  constructor(
    mail: ThreadMail,
    run: string,
    cancellation: Cancellation,
    store: object,
    thread: string | undefined,
    ttl = 30_000,
  ) {
    this.#mail = mail;
    this.#run = run;
    this.#cancellation = cancellation;
    const look = (): void => {
      this.notice("pending").catch(() => {
        // A fault of the store shows at the next boundary.
      });
    };
    this.#timer = setInterval(look, Math.min(LONGEST, Math.max(1, ttl / 3)));
    // Absent in browsers, whose timers keep nothing alive.
    (this.#timer as { unref?: () => void }).unref?.();
    this.#unlisten = listen(store, (rung) => {
      if (rung === thread) look();
    });
  }

  /** Cancels the run if a message asks for it. A glance reads nothing unless the store knows of new messages. */
  async notice(look: "glance" | "pending"): Promise<void> {
    if (this.#cancellation.cancelled) return;
    const message = await this.#mail.cancellation(this.#run, look);
    if (message === undefined) return;
    this.#cancellation.cancel(new CancelRequest(message.id, (message.payload as CancelPayload).reason));
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#unlisten();
  }
}
