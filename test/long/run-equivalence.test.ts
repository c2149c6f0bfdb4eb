import { test } from "vitest";
import { open } from "../../src/index.ts";
import { mediumOf } from "../runtime/support/medium.ts";
import { playMany } from "../runtime/support/play.ts";
import { howMany } from "./campaign.ts";

test.each([false, true])(
  `${howMany(5_000)} random graphs end as they do undisturbed; commits lost: %s`,
  async (lossy) => {
    const fresh: Parameters<typeof playMany>[0] = async (options) => {
      const medium = await mediumOf("memory", "");
      const store = await open(medium, { ...options });
      return { store, medium };
    };
    await playMany(fresh, lossy, howMany(5_000));
  },
  24 * 3_600_000,
);
