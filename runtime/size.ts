const UNITS: Record<string, number> = {
  '': 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
  TIB: 2 ** 40,
}

/** Bytes of a size as `--disk-size` takes it, rounded down to a whole MiB as disks are. */
export function parseSize(text: string): number {
  const [, number, unit] = /^([0-9.]+) ?([A-Za-z]*)$/.exec(text) ?? []
  const bytes = Number(number) * (UNITS[(unit ?? '').toUpperCase()] ?? NaN)
  return Math.floor(bytes / 2 ** 20) * 2 ** 20
}
