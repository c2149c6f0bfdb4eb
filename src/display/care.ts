import type { MeasuredStats, Stats } from "../model/interface/results.ts";
import { ageText, bytesText, countText } from "./quantities.ts";

/** Returns how a store is looked after, in words: encryption, state versions, the last sweep and the last backup. */
export function careFacts(
  { encryption, stateVersions, sweep, backup, restoring }: Stats,
  now: number,
  dateText: (at: number) => string,
): readonly (readonly [name: string, text: string])[] {
  return [
    ["encryption", encryptionText(encryption)],
    ...(stateVersions === null ? [] : [["state versions", versionsText(stateVersions)] as const]),
    ["last sweep", sweep === null ? "none" : sweepText(sweep, now, dateText)],
    ["last backup", backup === null ? "none noted" : backupText(backup, now)],
    ...(restoring === undefined ? [] : [["restore", `begun ${ageText(restoring, now)} and not ended`] as const]),
  ];
}

function encryptionText(encryption: Stats["encryption"]): string {
  if (encryption === null) return "none";
  const { key, current, hideIds, rotating } = encryption;
  return [
    `key ${JSON.stringify(key)}`,
    hideIds ? "ids hidden" : "ids visible",
    ...(key === current ? [] : [`to be rotated to ${JSON.stringify(current)}`]),
    ...(rotating ? ["a rotation of all data has not ended"] : []),
  ].join(", ");
}

function versionsText(stateVersions: MeasuredStats["stateVersions"]): string {
  const texts = Object.entries(stateVersions).map(
    ([version, threads]) => `${version === "0" ? "none" : `version ${version}`}: ${countText(threads, "thread")}`,
  );
  return texts.length === 0 ? "no threads" : texts.join(", ");
}

function sweepText(sweep: NonNullable<Stats["sweep"]>, now: number, dateText: (at: number) => string): string {
  const { at, threads, checkpoints, bytes, damaged, next } = sweep;
  const what = `${countText(threads, "thread")}, ${countText(checkpoints, "checkpoint")}, ${bytesText(bytes)}`;
  const left = damaged === 0 ? "" : `; left alone: ${countText(damaged, "damaged thread")}`;
  return `${ageText(at, now)}: ${what}${left}${next === null ? "" : `; next ${dateText(next)}`}`;
}

function backupText({ at, threads, deleted, bytes, consistent }: NonNullable<Stats["backup"]>, now: number): string {
  const gone = deleted === 0 ? "" : `, ${countText(deleted, "deleted thread")}`;
  const moment = consistent === "store" ? "of one moment" : "thread by thread";
  return `${ageText(at, now)}: ${countText(threads, "thread")}${gone}, ${bytesText(bytes)}, ${moment}`;
}
