/** The table of CRC-16/XMODEM, by which a cluster finds the slot of a key. */
const table: Uint16Array = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

export function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (table[((crc >> 8) ^ byte) & 0xff] as number);
  return crc;
}

/** The number of slots of every cluster. */
const slots = 16_384;

/** Returns the slot of keys with this hash tag. */
export function slotOf(tag: string): number {
  return crc16(Buffer.from(tag)) % slots;
}
