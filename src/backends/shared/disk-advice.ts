const advice: Readonly<Record<string, string>> = {
  ENOSPC: "The disk is full: make room and try again.",
  EDQUOT: "The disk quota is used up: make room and try again.",
  EFBIG: "The file is larger than the system allows: run compact() or raise the limit.",
  EACCES: "Permission was denied: check who owns the directory and its mode.",
  EPERM: "Permission was denied: check who owns the directory and its mode.",
  EROFS: "The file system is read-only: open the store with readOnly, or elsewhere.",
  ENOTDIR: "It is not a directory: choose another path.",
  EISDIR: "There is a directory where a file should be: move it away.",
  ELOOP: "There is a symbolic link where a file should be, and links are not followed: put the file itself there.",
  ENOENT: "It was removed: try again, and it is made anew.",
  EAGAIN: "Another process keeps writing: try again.",
  EMFILE: "This process has too many files open: raise its limit.",
  ENFILE: "The system has too many files open: raise its limit.",
};

/** Says what to do about an error of the file system, by its code; undefined for a code that is not known. */
export function diskAdvice(code: string | undefined): string | undefined {
  return Object.hasOwn(advice, code ?? "") ? advice[code ?? ""] : undefined;
}
