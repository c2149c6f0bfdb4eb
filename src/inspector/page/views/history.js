import { get } from "../api.js";
import { useEffect, useRef, useState } from "../dom.js";
import { useLive } from "../live.js";

const PAGE = 500;

/**
 * Returns the loaded checkpoints of a thread's namespace, newest first. The newest page is kept up to date; older pages
 * are loaded on scrolling.
 */
export function useHistory(thread, namespace) {
  const [state, setState] = useState({ rows: [], more: true, loading: true });
  const loading = useRef(false);
  const { value: page } = useLive("history", { thread, namespace, limit: 100 });
  useEffect(() => {
    if (page !== undefined) setState((before) => merged(before, page));
  }, [page]);

  const loadMore = async () => {
    const last = state.rows.at(-1);
    if (loading.current || !state.more || last === undefined) return;
    loading.current = true;
    try {
      const older = await get("history", { thread, namespace, before: last.seq, limit: PAGE });
      setState((before) => {
        if (before.rows.at(-1)?.id !== last.id) return before;
        return { rows: [...before.rows, ...older.checkpoints], more: older.more, loading: false };
      });
    } finally {
      loading.current = false;
    }
  };
  return { ...state, loadMore };
}

/** Joins the newest page and the loaded rows; returns the page alone if they do not meet or rows between are gone. */
function merged({ rows, more }, page) {
  const oldest = page.checkpoints.at(-1);
  if (!page.more || oldest === undefined) return { rows: page.checkpoints, more: page.more, loading: false };
  const meeting = rows.findIndex(({ id }) => id === oldest.id);
  if (meeting < 0) return { rows: page.checkpoints, more: page.more, loading: false };
  return { rows: [...page.checkpoints, ...rows.slice(meeting + 1)], more, loading: false };
}
