import { sha256Hex, sha256OfParts } from '../../../base/bytes/index.js'
import { normalPath } from '../../file-tree.js'
import { findBlockNode, readNode } from '../block/block-nodes.js'
import { fileView, type FileStat, type FileView } from './file-view.js'
import type { ProgramMachine, Process } from '../machine-program.js'
import { strerror, defineTool, ToolExit, ToolFailure } from '../tool.js'

const FILE_PIECE_BYTES = 4 * 1024 * 1024

/** Contents of a file or device in pieces. */
async function* readPieces({ inside, clock, signal }: Process, path: string): AsyncGenerator<Uint8Array> {
  const node = await findBlockNode(inside, path)
  if (!node) return yield await fileView(inside, clock).read(path)
  for (let at = 0; at < node.length; at += FILE_PIECE_BYTES) {
    signal.throwIfAborted()
    yield await readNode(node, at, FILE_PIECE_BYTES)
  }
}

/** Runs an action on each path; failures are printed on stderr, and the other paths still run. */
async function eachPath(
  { stderr, signal }: Process,
  paths: readonly string[],
  prefix: (path: string) => string,
  work: (path: string) => Promise<void>,
): Promise<number> {
  let exitCode = 0
  for (const path of paths) {
    try {
      await work(path)
    } catch (error) {
      const sentence = signal.aborted ? undefined : strerror(error)
      if (sentence === undefined) throw error
      stderr(`${prefix(path)}: ${sentence}\n`)
      exitCode = 1
    }
  }
  return exitCode
}

export const cat = defineTool('cat', {}, (process, { rest }) => {
  if (rest.length === 0) return process.stdout(process.stdin)
  return eachPath(
    process,
    rest,
    (path) => `cat: ${path}`,
    async (path) => {
      for await (const piece of readPieces(process, path)) process.stdout(piece)
    },
  )
})

export const sha256sum = defineTool('sha256sum', { binary: 'b', text: 't' }, async (process, { rest }) => {
  const line = (hash: string, path: string) => process.stdout(`${hash}  ${path}\n`)
  if (rest.length === 0) return line(sha256Hex(process.stdin), '-')
  return eachPath(
    process,
    rest,
    (path) => `sha256sum: ${path}`,
    async (path) => line(await sha256OfParts(readPieces(process, path)), path),
  )
})

const TYPE = { file: '-', directory: 'd', 'block device': 'b' } as const
const permissions = ({ kind, mode }: FileStat): string =>
  TYPE[kind] +
  [6, 3, 0]
    .map(
      (shift) =>
        ((mode >> shift) & 4 ? 'r' : '-') + ((mode >> shift) & 2 ? 'w' : '-') + ((mode >> shift) & 1 ? 'x' : '-'),
    )
    .join('')

const owner = (id: number): string => (id === 0 ? 'root' : id === 6 ? 'disk' : String(id))

function describeFileKind({ kind, size }: FileStat): string {
  switch (kind) {
    case 'directory':
      return 'directory'
    case 'block device':
      return 'block special file'
    case 'file':
      return size === 0 ? 'regular empty file' : 'regular file'
  }
}

/** `-c FORMAT` with the directives that need no clock; without it a default line. */
export const stat = defineTool(
  'stat',
  { format: 'c=', printf: '=', dereference: 'L', terse: 't' },
  (process, options) => {
    const view = fileView(process.inside, process.clock)
    return eachPath(
      process,
      options.rest,
      (path) => `stat: cannot statx '${path}'`,
      async (path) => {
        const found = await view.stat(path)
        const directives: Readonly<Record<string, string>> = {
          a: found.mode.toString(8),
          A: permissions(found),
          b: String(Math.ceil(found.size / 512)),
          B: '512',
          f: found.mode.toString(16),
          F: describeFileKind(found),
          g: String(found.gid),
          G: owner(found.gid),
          n: path,
          N: `'${path}'`,
          s: String(found.size),
          u: String(found.uid),
          U: owner(found.uid),
          '%': '%',
        }
        const fill = (format: string) => format.replaceAll(/%(.)/g, (whole, name: string) => directives[name] ?? whole)
        const printf = options.value('printf')
        if (printf !== undefined) return process.stdout(fill(printf.replaceAll('\\n', '\n')))
        process.stdout(
          `${fill(options.value('format') ?? '  File: %n\n  Size: %s\t%F\nAccess: (%a/%A)  Uid: (%u/%U)   Gid: (%g/%G)')}\n`,
        )
      },
    )
  },
)

export const ls = defineTool(
  'ls',
  { all: 'a', 'almost-all': 'A', directory: 'd', long: 'l', one: '1', recursive: 'R', human: 'h' },
  async (process, options) => {
    const { inside, clock, stdout, stderr } = process
    const view = fileView(inside, clock)
    const paths = options.rest.length === 0 ? ['/'] : options.rest
    const line = async (path: string, name: string): Promise<string> => {
      if (!options.has('long')) return `${name}\n`
      const link = linkOf(inside, path)
      if (link !== undefined) return `lrwxrwxrwx 1 root root ${link.length} Jan  1 00:00 ${name} -> ${link}\n`
      const found = await view.stat(path)
      return `${permissions(found)} 1 ${owner(found.uid)} ${owner(found.gid)} ${found.size} Jan  1 00:00 ${name}\n`
    }
    let exitCode = 0
    for (const path of paths) {
      if (!(await view.exists(path))) {
        stderr(`ls: cannot access '${path}': No such file or directory\n`)
        exitCode = 2
        continue
      }
      if (options.has('directory') || (await view.stat(path)).kind !== 'directory') {
        stdout(await line(path, path))
        continue
      }
      if (paths.length > 1) stdout(`${path}:\n`)
      const hidden = options.has('all') || options.has('almost-all')
      for (const name of await view.list(path))
        if (hidden || !name.startsWith('.')) stdout(await line(`${path}/${name}`, name))
    }
    return exitCode
  },
)

const linkOf = (inside: ProgramMachine, path: string): string | undefined => inside.files.link?.(normalPath(path))

/** Prints the resolved path with `-f`, otherwise the target of a link. */
export const readlink = defineTool(
  'readlink',
  { canonicalize: 'f', 'no-newline': 'n' },
  ({ inside, stdout }, options) => {
    const path = options.rest[0]
    if (path === undefined) throw new ToolFailure('missing operand')
    const target = linkOf(inside, path)
    if (target === undefined && !options.has('canonicalize')) throw new ToolExit(1)
    stdout(`${target ?? normalPath(path)}${options.has('no-newline') ? '' : '\n'}`)
  },
)

export const rm = defineTool('rm', { force: 'f', recursive: 'r', Recursive: 'R', verbose: 'v' }, (process, options) => {
  const view = fileView(process.inside, process.clock)
  const whole = options.has('recursive') || options.has('Recursive')
  return eachPath(
    process,
    options.rest,
    (path) => `rm: cannot remove '${path}'`,
    async (path) => {
      if (!(await view.exists(path)) && options.has('force')) return
      if ((await view.stat(path)).kind === 'directory' && !whole) throw Object.assign(new Error(), { code: 'EISDIR' })
      await view.remove(path)
    },
  )
})

export const mkdir = defineTool('mkdir', { parents: 'p', mode: 'm=', verbose: 'v' }, (process, options) => {
  const view = fileView(process.inside, process.clock)
  const mode = options.value('mode')
  return eachPath(
    process,
    options.rest,
    (path) => `mkdir: cannot create directory ‘${path}’`,
    async (path) => {
      const fail = (code: string) => Object.assign(new Error(), { code })
      if (await view.exists(path)) {
        if (options.has('parents') && (await view.stat(path)).kind === 'directory') return
        throw fail('EEXIST')
      }
      const parent = normalPath(`${path}/..`)
      if (!options.has('parents') && !(await view.exists(parent))) throw fail('ENOENT')
      await view.mkdir(path, mode === undefined ? {} : { mode: Number.parseInt(mode, 8) })
    },
  )
})

export const tee = defineTool('tee', { append: 'a' }, async (process, options) => {
  const view = fileView(process.inside, process.clock)
  for (const path of options.rest) {
    const old = options.has('append') && (await view.exists(path)) ? await view.read(path) : new Uint8Array()
    await view.write(path, Buffer.concat([old, process.stdin]))
  }
  process.stdout(process.stdin)
})

/** Takes octal modes of files only, and rewrites the file: a file view can set a mode only when it writes. */
export const chmod = defineTool('chmod', { recursive: 'R', verbose: 'v' }, (process, options) => {
  const view = fileView(process.inside, process.clock)
  const [mode = '', ...paths] = options.rest
  if (!/^[0-7]{3,4}$/.test(mode)) throw new ToolFailure(`invalid mode: ‘${mode}’`)
  return eachPath(
    process,
    paths,
    (path) => `chmod: cannot access '${path}'`,
    async (path) => {
      if ((await view.stat(path)).kind !== 'file') return
      await view.write(path, await view.read(path), { mode: Number.parseInt(mode, 8) })
    },
  )
})

/** Conditions of test(1): one on a file or string, with `!` before it, or two joined by an operator. */
export const test = async ({ argv, inside, clock, stderr }: Process): Promise<number> => {
  const words = argv[0].endsWith('[') ? argv.slice(1, -1) : argv.slice(1)
  const view = fileView(inside, clock)
  const holds = await condition(view, words)
  if (holds !== undefined) return holds ? 0 : 1
  stderr(`test: ${words.join(' ')}: unknown condition\n`)
  return 2
}

async function condition(view: FileView, words: readonly string[]): Promise<boolean | undefined> {
  const [a = '', b = '', c = ''] = words
  if (a === '!' && words.length > 1) {
    const inner = await condition(view, words.slice(1))
    return inner === undefined ? undefined : !inner
  }
  if (words.length === 3) {
    const x = Number(a)
    const y = Number(c)
    switch (b) {
      case '=':
      case '==':
        return a === c
      case '!=':
        return a !== c
      case '-eq':
        return x === y
      case '-ne':
        return x !== y
      case '-lt':
        return x < y
      case '-gt':
        return x > y
      default:
        return undefined
    }
  }
  if (words.length < 2) return a !== ''
  if (a === '-n') return b !== ''
  if (a === '-z') return b === ''
  const found = (await view.exists(b)) ? await view.stat(b) : undefined
  switch (a) {
    case '-e':
    case '-r':
    case '-w':
      return found !== undefined
    case '-f':
      return found?.kind === 'file'
    case '-d':
      return found?.kind === 'directory'
    case '-b':
      return found?.kind === 'block device'
    case '-s':
      return found !== undefined && found.size > 0
    case '-x':
      return found !== undefined && (found.mode & 0o111) !== 0
    default:
      return undefined
  }
}
