import { posix } from 'node:path'
import { UserError } from '../../runtime/index.js'
import type { Files } from '../executor.js'
import type { Conversation } from './conversation.js'
import { LIMITS } from './limits.js'
import { printed, shellWord } from './shell-words.js'

/** Largest file inside a script, in bytes; a larger one is sent first, and the script renames it. */
const INLINE = 256 * 1024

/**
 * Files of a target, read and written by scripts.
 *
 * @param allow called with each path before it is changed; throws for one that must not be
 */
export function supervisedFiles(conversation: Conversation, allow: (path: string) => void): Files {
  return {
    read: async (path) => {
      let bytes: Uint8Array | undefined
      await ask(conversation, 'open', path, READ, (record) => {
        if (record.kind === 'output') bytes = record.bytes
      })
      return bytes ?? new Uint8Array()
    },
    write: async (path, bytes, { mode = 0o644 } = {}) => {
      allow(path)
      const staged = bytes.length > INLINE ? await conversation.stage(bytes) : null
      const input =
        staged === null ? `{\n${printed(bytes)}\n} >"$t"` : `mv -f ${shellWord(staged)} "$t" 2>/dev/null || [ -f "$t" ]`
      await ask(conversation, 'write', path, writeScript(path, input, bytes.length, mode))
    },
    remove: async (path) => {
      allow(path)
      await ask(conversation, 'unlink', path, REMOVE)
    },
    exists: async (path) => {
      let there = false
      await ask(conversation, 'stat', path, EXISTS, (record) => {
        if (record.kind === 'line' && record.tag === 'y') there = true
      })
      return there
    },
    list: async (path) => {
      let listing = ''
      await ask(conversation, 'scandir', path, LIST, (record) => {
        if (record.kind === 'output') listing = Buffer.from(record.bytes).toString('utf8')
      })
      return listing.split('\n').filter(Boolean).sort()
    },
  }
}

type Answer = Parameters<Parameters<Conversation['ask']>[1]>[0]

async function ask(
  conversation: Conversation,
  what: string,
  path: string,
  body: string,
  take: (record: Answer) => void = () => {},
): Promise<void> {
  let failure: string | undefined
  const doing = `accessing ${path} (${what})`
  await conversation.ask(
    () => `f=${shellWord(path)}\nfail() { printf 'z %s\\n' "$1"; exit 0; }\n${body}\nprintf 'k\\n'`,
    (record) => {
      if (record.kind === 'line' && record.tag === 'z') failure = record.text
      else take(record)
      return record.kind === 'line' && (record.tag === 'k' || record.tag === 'z')
    },
    doing,
  )
  if (failure !== undefined)
    throw new UserError(
      isErrno(failure) ? failure : 'target-file',
      `${failure}: ${what} ${path} on ${conversation.name}`,
    )
}

const isErrno = (text: string): text is `E${Uppercase<string>}` => /^E[A-Z]+$/.test(text)

const CHECK_READ = `[ -e "$f" ] || fail ENOENT
[ ! -d "$f" ] || fail EISDIR
[ -r "$f" ] || fail EACCES`

/** Copies the file first: files of sysfs show their length only when read, and those of procfs change between two reads. */
const READ = `${CHECK_READ}
[ -d "$base/.read" ] || mkdir -p "$base/.read"
t=$base/.read/$$
head -c ${LIMITS.record + 1} "$f" >"$t" 2>/dev/null || { rm -f "$t"; fail EIO; }
[ "$(($(wc -c <"$t")))" -le ${LIMITS.record} ] || { rm -f "$t"; fail EFBIG; }
printf 'o %d\\n' "$(($(wc -c <"$t")))"
cat "$t"
rm -f "$t"`

/** Replaces the file by a rename, so that no process reads half of it and the script is idempotent. */
const writeScript = (path: string, input: string, length: number, mode: number): string => `
mkdir -p ${shellWord(posix.dirname(path))} 2>/dev/null || fail EACCES
[ ! -d "$f" ] || fail EISDIR
t=${shellWord(`${posix.dirname(path)}/.${posix.basename(path)}.ironstage`)}
( ${input} ) 2>/dev/null || fail EIO
[ "$(($(wc -c <"$t")))" -eq ${length} ] || { rm -f "$t"; fail EIO; }
chmod ${mode.toString(8)} "$t" && mv -f "$t" "$f" || { rm -f "$t"; fail EIO; }`

const REMOVE = `
[ -e "$f" ] || [ -L "$f" ] || { printf 'k\\n'; exit 0; }
[ ! -d "$f" ] || fail EISDIR
rm -f "$f" 2>/dev/null || fail EACCES`

const EXISTS = `if [ -e "$f" ] || [ -L "$f" ]; then printf 'y\\n'; fi`

const LIST = `
[ -e "$f" ] || fail ENOENT
[ -d "$f" ] || fail ENOTDIR
[ -r "$f" ] || fail EACCES
[ -d "$base/.read" ] || mkdir -p "$base/.read"
t=$base/.read/$$
ls -1A "$f" >"$t" 2>/dev/null
printf 'o %d\\n' "$(($(wc -c <"$t")))"
cat "$t"
rm -f "$t"`
