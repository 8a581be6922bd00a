import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, mkdirSync, rmSync, symlinkSync, linkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defined } from '../../runtime/index.js'
import { memoryStream, streamFrom } from '../byte-stream.js'
import { FormatError } from '../format-error.js'
import { readTar, type TarLimits } from './tar-reader.js'
import { paxArchive, makeTar } from './tar.js'

interface Read {
  path: string
  kind: string
  linkTarget?: string
  text?: string
}

async function entriesOf(archive: Uint8Array, limits?: Partial<TarLimits>, pieces?: number): Promise<Read[]> {
  const found: Read[] = []
  for await (const { path, kind, linkTarget, content } of readTar(memoryStream(archive, pieces), limits)) {
    const parts: Uint8Array[] = []
    for await (const part of content()) parts.push(part)
    const text = Buffer.concat(parts).toString()
    found.push({
      path,
      kind,
      ...defined({ linkTarget: linkTarget === '' ? undefined : linkTarget, text: text === '' ? undefined : text }),
    })
  }
  return found
}

/** A header block with its checksum. */
function block(fields: {
  name?: string
  type?: string
  size?: number | Buffer
  magic?: string
  prefix?: string
}): Buffer {
  const bytes = Buffer.alloc(512)
  const { name = 'file', type = '0', size = 0, magic = 'ustar\u000000', prefix = '' } = fields
  bytes.write(name, 0)
  if (Buffer.isBuffer(size)) size.copy(bytes, 124)
  else bytes.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  bytes.write(type, 156)
  bytes.write(magic, 257, 'latin1')
  bytes.write(prefix, 345)
  bytes.fill(' ', 148, 156)
  const sum = bytes.reduce((total, byte) => total + byte, 0)
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return bytes
}

const filled = (text: string): Buffer => Buffer.concat([Buffer.from(text)], Math.ceil(text.length / 512) * 512)
const END = Buffer.alloc(1024)
const refused = (...blocks: Buffer[]) => expect(entriesOf(Buffer.concat([...blocks, END]))).rejects

describe('an archive of this program', () => {
  test('is read again, in pieces of any size', async () => {
    const long = `release-manifests/${'x'.repeat(150)}.yaml`
    const archive = paxArchive(
      [
        { name: 'empty', content: Buffer.alloc(0) },
        { name: long, content: Buffer.from('long') },
        { name: 'a/b/c', content: Buffer.alloc(600, 'y') },
      ],
      0,
    )
    for (const pieces of [1, 511, 512, 513, 100_000])
      expect(await entriesOf(archive, {}, pieces)).toEqual([
        { path: 'empty', kind: 'file' },
        { path: 'release-manifests', kind: 'directory' },
        { path: long, kind: 'file', text: 'long' },
        { path: 'a', kind: 'directory' },
        { path: 'a/b', kind: 'directory' },
        { path: 'a/b/c', kind: 'file', text: 'y'.repeat(600) },
      ])
  })

  test('content that is not taken is skipped', async () => {
    const archive = makeTar(
      ['one', 'two'].map((name) => ({ name, content: Buffer.alloc(5000, name) })),
      0,
    )
    const paths: string[] = []
    for await (const { path } of readTar(memoryStream(archive))) paths.push(path)
    expect(paths).toEqual(['one', 'two'])
  })

  test('any names and contents come back', async () => {
    const name = fc
      .stringMatching(/^[a-zä/]{0,200}[a-z]$/)
      .filter((text) => !text.startsWith('/') && !text.includes('//'))
    const files = fc.uniqueArray(fc.tuple(name, fc.string({ maxLength: 2000 })), {
      selector: ([one]) => one,
      maxLength: 8,
    })
    await fc.assert(
      fc.asyncProperty(files, async (entries) => {
        const archive = paxArchive(
          entries.map(([path, text]) => ({ name: path, content: Buffer.from(text) })),
          0,
        )
        const found = (await entriesOf(archive, {}, 333)).filter(({ kind }) => kind === 'file')
        expect(found.map(({ path, text = '' }) => [path, text])).toEqual(entries)
      }),
    )
  })
})

const gnuTar = spawnSync('tar', ['--version']).stdout?.includes('GNU tar') ?? false

test.skipIf(!gnuTar).each(['v7', 'ustar', 'gnu', 'posix'])('an archive of GNU tar in the form %s', async (form) => {
  const folder = mkdtempSync(join(tmpdir(), 'ironstage-tar-'))
  try {
    const long = form === 'gnu' || form === 'posix' ? `d/${'n'.repeat(120)}` : 'd/name'
    mkdirSync(join(folder, 'd'))
    writeFileSync(join(folder, long), 'of a long name')
    writeFileSync(join(folder, 'd/text'), 'text')
    linkSync(join(folder, 'd/text'), join(folder, 'd/zz-hard'))
    symlinkSync('text', join(folder, 'd/zz-soft'))
    const archive = execFileSync('tar', ['-C', folder, `--format=${form}`, '--sort=name', '-cf', '-', './d'])
    expect(await entriesOf(archive)).toEqual([
      { path: 'd', kind: 'directory' },
      { path: long, kind: 'file', text: 'of a long name' },
      { path: 'd/text', kind: 'file', text: 'text' },
      { path: 'd/zz-hard', kind: 'hard link', linkTarget: './d/text' },
      { path: 'd/zz-soft', kind: 'symbolic link', linkTarget: 'text' },
    ])
    const written = paxArchive([{ name: long, content: Buffer.from('x') }], 0)
    expect(execFileSync('tar', ['-tf', '-'], { input: written }).toString()).toBe(`d/\n${long}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

describe('an archive of a stranger', () => {
  test.each(['../etc/passwd', 'a/../../b', '/../x', '..'])('the path %s is refused', (name) =>
    refused(block({ name })).toThrow(/points outside/),
  )

  test('an absolute path is one below the root of the archive', async () => {
    expect(await entriesOf(Buffer.concat([block({ name: '/etc/./x' }), END]))).toEqual([
      { path: 'etc/x', kind: 'file' },
    ])
  })

  test('a path out of it by a PAX header or a GNU long name is refused', async () => {
    await refused(block({ type: 'x', size: 16 }), filled('16 path=../../x\n'), block({})).toThrow(/points outside/)
    await refused(block({ type: 'L', size: 7 }), filled('../../x'), block({})).toThrow(/points outside/)
  })

  test('a header without end is not read into memory', async () => {
    let pulled = 0
    const endless = streamFrom(
      (async function* () {
        yield block({ type: 'x', size: 2 ** 33 - 1 })
        for (;;) {
          pulled += 65_536
          yield Buffer.alloc(65_536)
        }
      })(),
    )
    await expect(readTar(endless).next()).rejects.toThrow(/header of a tar archive has 8589934591 bytes/)
    expect(pulled).toBeLessThan(2 ** 21)
  })

  test('headers about entries that never come count as entries', async () => {
    const names = Array.from({ length: 12 }, () => [block({ type: 'L', size: 1 }), filled('a')]).flat()
    await expect(entriesOf(Buffer.concat([...names, END]), { entries: 10 })).rejects.toThrow(/more than 10 entries/)
  })

  test('many tiny entries end at the limit', async () => {
    const archive = makeTar(
      Array.from({ length: 11 }, (_, index) => ({ name: `${index}`, content: Buffer.alloc(0) })),
      0,
    )
    await expect(entriesOf(archive, { entries: 10 })).rejects.toThrow(/more than 10 entries/)
    expect(await entriesOf(archive, { entries: 11 })).toHaveLength(11)
  })

  test.each([
    ['negative', Buffer.from('ff'.repeat(12), 'hex')],
    ['beyond all disks', Buffer.from(`80${'7f'.repeat(11)}`, 'hex')],
    ['no number', Buffer.from('seventeen\0')],
  ])('a size that is %s is refused', (_, size) => refused(block({ size })).toThrow(/the size of an entry/))

  test.each([
    ['too long', '99 path=x\n'],
    ['without a length', 'path=x\n'],
    ['without a value', '7 path\n'],
    ['without an end', '9 path=x'],
  ])('a PAX record %s is refused', (_, text) =>
    refused(block({ type: 'x', size: text.length }), filled(text), block({})).toThrow(/PAX header .* damaged/),
  )

  test('a PAX size is the one that counts', async () => {
    const archive = Buffer.concat([
      block({ type: 'x', size: 9 }),
      filled('9 size=3\n'),
      block({ size: 0 }),
      filled('abc'),
      END,
    ])
    expect(await entriesOf(archive)).toEqual([{ path: 'file', kind: 'file', text: 'abc' }])
  })

  test('a link has no content, whatever its size says', async () => {
    const archive = Buffer.concat([block({ type: '2', size: 99_999 }), block({ name: 'after' }), END])
    expect((await entriesOf(archive)).map(({ path }) => path)).toEqual(['file', 'after'])
  })

  test.each([
    ['cut off in a content', Buffer.concat([block({ size: 600 }), Buffer.alloc(512)])],
    ['cut off in a header', Buffer.concat([block({}), Buffer.alloc(100, 1)])],
    ['of random bytes', Buffer.alloc(2048, 'random')],
    ['with an empty block in the middle', Buffer.concat([block({}), Buffer.alloc(512), block({}), END])],
    ['with a sparse file', Buffer.concat([block({ type: 'S' }), END])],
  ])('an archive %s is refused', (_, archive) => expect(entriesOf(archive)).rejects.toThrow(FormatError))

  test('bytes of any kind end with an error or entries, never otherwise', async () => {
    const changed = fc.tuple(fc.nat(2047), fc.nat(255))
    const whole = paxArchive([{ name: 'a/b', content: Buffer.alloc(700, 'z') }], 0)
    await fc.assert(
      fc.asyncProperty(fc.array(changed, { maxLength: 6 }), async (changes) => {
        const bytes = Buffer.from(whole)
        for (const [at, value] of changes) bytes[at] = value
        const outcome = await entriesOf(bytes).catch((error: unknown) => error)
        expect(Array.isArray(outcome) || outcome instanceof FormatError).toBe(true)
      }),
    )
  })
})
