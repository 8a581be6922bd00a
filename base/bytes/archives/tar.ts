/** A file of an archive. */
export interface ArchiveEntry {
  /** Relative path of at most 100 bytes. */
  readonly name: string
  readonly content: Uint8Array
}

const BLOCK = 512

/**
 * A tar archive in the ustar format (POSIX.1-1988): a header block and the content padded to blocks for every file, two
 * empty blocks at the end. Files belong to root and are readable by all.
 *
 * @param mtime seconds since the epoch
 * @throws RangeError for a name longer than 100 bytes
 */
export function makeTar(entries: readonly ArchiveEntry[], mtime: number): Uint8Array {
  const blocks = entries.flatMap(({ name, content }) => [
    header(name, content.length, mtime),
    content,
    new Uint8Array((BLOCK - (content.length % BLOCK)) % BLOCK),
  ])
  return Buffer.concat([...blocks, new Uint8Array(2 * BLOCK)])
}

/**
 * As {@link makeTar}, with names of any length (PAX, POSIX.1-2001), and with the folders of the files in front of them.
 */
export function paxArchive(entries: readonly ArchiveEntry[], mtime: number): Uint8Array {
  const folders = new Set<string>()
  const blocks = entries.flatMap(({ name, content }) => {
    const parents = name.split('/').slice(0, -1)
    const missing = parents
      .map((_, index) => `${parents.slice(0, index + 1).join('/')}/`)
      .filter((one) => !folders.has(one))
    for (const folder of missing) folders.add(folder)
    return [
      ...missing.flatMap((folder) => makeTarEntry(folder, '5', new Uint8Array(), mtime)),
      ...makeTarEntry(name, '0', content, mtime),
    ]
  })
  return Buffer.concat([...blocks, new Uint8Array(2 * BLOCK)])
}

function makeTarEntry(name: string, type: '0' | '5' | 'x', content: Uint8Array, mtime: number): Uint8Array[] {
  const padding = new Uint8Array((BLOCK - (content.length % BLOCK)) % BLOCK)
  if (Buffer.byteLength(name) <= 100) return [header(name, content.length, mtime, type), content, padding]
  const long = makeTarEntry('././@PaxHeader', 'x', paxRecord('path', name), mtime)
  return [...long, header('././@LongName', content.length, mtime, type), content, padding]
}

/** `LENGTH KEY=VALUE\n`, in which the length counts its own digits. */
function paxRecord(key: string, value: string): Uint8Array {
  const rest = Buffer.from(` ${key}=${value}\n`)
  let length = rest.length
  while (length !== rest.length + String(length).length) length = rest.length + String(length).length
  return Buffer.concat([Buffer.from(String(length)), rest])
}

function header(name: string, size: number, mtime: number, type: '0' | '5' | 'x' = '0'): Uint8Array {
  if (Buffer.byteLength(name) > 100) throw new RangeError(`${name} is too long a name for a ustar archive`)
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, width: number) =>
    block.write(
      Math.floor(value)
        .toString(8)
        .padStart(width - 1, '0') + '\0',
      at,
      'latin1',
    )
  block.write(name, 0)
  octal(type === '5' ? 0o755 : 0o644, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(size, 124, 12)
  octal(mtime, 136, 12)
  block.write(type, 156)
  block.write('ustar\u000000', 257, 'latin1')
  block.write('root', 265)
  block.write('root', 297)
  // The checksum is taken with its own field full of spaces.
  block.fill(' ', 148, 156)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(sum.toString(8).padStart(6, '0') + '\0 ', 148, 'latin1')
  return block
}
