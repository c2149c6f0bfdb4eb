/**
 * SQL that is true wherever it stands, and by which the transaction that it stands in is acknowledged after it was synced
 * (`full`), or before (`normal`): whatever the server, database, role or session has set, and for this transaction only.
 * Levels above `on`, which wait for replicas, stay.
 */
export function commitAs(fsync: "full" | "normal"): string {
  if (fsync === "normal") return "set_config('synchronous_commit', 'off', true) = 'off'";
  const raised = "set_config('synchronous_commit', 'on', true)";
  return `case current_setting('synchronous_commit') when 'off' then ${raised} else 'on' end = 'on'`;
}
