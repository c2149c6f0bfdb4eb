import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { countText } from "../../../display/quantities.ts";
import type { ConversationPage, Step, TurnFacts } from "../../api/answers.ts";
import { get, type Parameters } from "../api.ts";
import { VirtualFlow } from "../parts/virtual-flow.tsx";
import { Turn } from "./turn.tsx";

const PAGE = 40;

interface ConversationProps {
  readonly place: Parameters;
  /** Opens a place in the state. */
  readonly onPlace: (path: readonly Step[]) => void;
}

/** Shows the conversation in a state, newest at the bottom. Turns are read as they come into sight. */
export function Conversation({ place, onPlace }: ConversationProps): JSX.Element {
  const [facts, setFacts] = useState<Omit<ConversationPage, "turns" | "offset"> | undefined>(undefined);
  const [failure, setFailure] = useState("");
  const [, setVersion] = useState(0);
  const turns = useRef(new Map<number, TurnFacts>());
  const asked = useRef(new Set<number>());

  const read = async (offset: number | undefined): Promise<void> => {
    try {
      const page = await get<ConversationPage>("conversation", { ...place, limit: PAGE, offset });
      for (const [index, turn] of page.turns.entries()) turns.current.set(page.offset + index, turn);
      setFacts(page);
      setFailure("");
      setVersion((version) => version + 1);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  useEffect(() => {
    void read(undefined);
  }, []);
  const look = (first: number, last: number): void => {
    for (let index = first; index <= last; index += 1) {
      const page = Math.floor(index / PAGE);
      if (turns.current.has(index) || asked.current.has(page)) continue;
      asked.current.add(page);
      void read(page * PAGE);
    }
  };
  if (failure !== "" && facts === undefined)
    return (
      <p class="failure" role="alert">
        {failure}
      </p>
    );
  if (facts === undefined) return <p class="skeleton" />;
  return (
    <VirtualFlow
      class="conversation"
      role="log"
      label={`Conversation, ${countText(facts.messages, "message")}`}
      tabIndex={0}
      count={facts.total}
      estimate={96}
      fromEnd
      keyOf={(index) => String(index)}
      onRange={look}
      row={(index) => {
        const turn = turns.current.get(index);
        if (turn === undefined) return <p class="skeleton" />;
        const before = turns.current.get(index - 1);
        return (
          <>
            {turn.added && before?.added === false && (
              <p class="added-line">
                <span>added by this step</span>
              </p>
            )}
            <Turn turn={turn} place={place} path={facts.path} onPlace={onPlace} />
          </>
        );
      }}
    />
  );
}
