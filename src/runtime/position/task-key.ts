/** Returns the task's key for other systems: thread, run, namespace and task in plain ASCII. */
export function taskKey(thread: string | undefined, run: string, namespace: readonly string[], task: string): string {
  return [...(thread === undefined ? [] : [thread]), run, ...namespace, task].map(encodeURIComponent).join("/");
}
