/**
 * Returns a SQL condition that is always true and sets how its transaction is acknowledged: after the sync (`full`) or
 * before it (`normal`), whatever the server, database, role or session has set, and for this transaction only. Levels
 * above `on`, which wait for replicas, stay.
 */
export function commitAs(fsync: "full" | "normal"): string {
  if (fsync === "normal") return "set_config('synchronous_commit', 'off', true) = 'off'";
  const raised = "set_config('synchronous_commit', 'on', true)";
  return `case current_setting('synchronous_commit') when 'off' then ${raised} else 'on' end = 'on'`;
}
