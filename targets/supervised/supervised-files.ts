import { posix } from 'node:path'
import { UserError } from '../../runtime/index.js'
import type { Files } from '../executor.js'
import type { Conversation } from './conversation.js'
import { LIMITS } from './limits.js'
import { printed, shellWord } from './shell-words.js'

/** Largest file inside a script, in bytes; a larger one is sent first, and the script renames it. */
const INLINE = 256 * 1024

/**
 * Files of a target, read and written by scripts. What is read at the same time is read by one script: starting a shell,
 * and over SSH a channel, takes longer than reading a small file.
 *
 * @param allow called with each path before it is changed; throws for one that must not be
 */
export function supervisedFiles(conversation: Conversation, allow: (path: string) => void): Files {
  const reading = new Reading(conversation)
  return {
    read: async (path) => {
      let bytes: Uint8Array | undefined
      await reading.ask('open', path, READ, (record) => {
        if (record.kind === 'output') bytes = record.bytes
      })
      return bytes ?? new Uint8Array()
    },
    write: async (path, bytes, { mode = 0o644 } = {}) => {
      allow(path)
      const staged = bytes.length > INLINE ? await conversation.stage(bytes) : null
      const input =
        staged === null ? `{\n${printed(bytes)}\n} >"$t"` : `mv -f ${shellWord(staged)} "$t" 2>/dev/null || [ -f "$t" ]`
      await ask(conversation, new Question('write', path, writeScript(path, input, bytes.length, mode)))
    },
    remove: async (path) => {
      allow(path)
      await ask(conversation, new Question('unlink', path, REMOVE))
    },
    exists: async (path) => {
      let there = false
      await reading.ask('stat', path, EXISTS, (record) => {
        if (record.kind === 'line' && record.tag === 'y') there = true
      })
      return there
    },
    list: async (path) => {
      let listing = ''
      await reading.ask('scandir', path, LIST, (record) => {
        if (record.kind === 'output') listing = Buffer.from(record.bytes).toString('utf8')
      })
      return listing.split('\n').filter(Boolean).sort()
    },
  }
}

type Answer = Parameters<Parameters<Conversation['ask']>[1]>[0]

/** One access to a file, and what came of it. */
class Question {
  /** Error code or sentence of the target; null when it succeeded. */
  failure: string | null = null

  constructor(
    readonly what: string,
    readonly path: string,
    readonly body: string,
    readonly take: (record: Answer) => void = () => {},
  ) {}

  get text(): string {
    return `(
f=${shellWord(this.path)}
fail() { printf 'z %s\\n' "$1"; exit 0; }
${this.body}
printf 'k\\n'
)`
  }

  throwFailure(target: string): void {
    const { failure, what, path } = this
    if (failure === null) return
    throw new UserError(isErrno(failure) ? failure : 'target-file', `${failure}: ${what} ${path} on ${target}`)
  }
}

/** Asks all in one script, whose answers come in the same order. */
async function askAll(conversation: Conversation, questions: readonly Question[]): Promise<void> {
  const [{ what, path }] = questions as [Question]
  const others = questions.length > 1 ? ` and ${questions.length - 1} more` : ''
  let answered = 0
  await conversation.ask(
    () => {
      answered = 0
      return questions.map(({ text }) => text).join('\n')
    },
    (record) => {
      const question = questions[answered]!
      const last = record.kind === 'line' && (record.tag === 'k' || record.tag === 'z')
      if (!last) question.take(record)
      else {
        question.failure = record.tag === 'z' ? record.text : null
        answered++
      }
      return answered === questions.length
    },
    `accessing ${path} (${what})${others}`,
  )
}

async function ask(conversation: Conversation, question: Question): Promise<void> {
  await askAll(conversation, [question])
  question.throwFailure(conversation.name)
}

/** Collects what is asked until the event loop turns. */
class Reading {
  #waiting: Question[] = []
  #answers: Promise<void> | null = null

  constructor(private readonly conversation: Conversation) {}

  async ask(what: string, path: string, body: string, take: (record: Answer) => void): Promise<void> {
    const question = new Question(what, path, body, take)
    this.#waiting.push(question)
    this.#answers ??= this.#next()
    await this.#answers
    question.throwFailure(this.conversation.name)
  }

  async #next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    this.#answers = null
    await askAll(this.conversation, this.#waiting.splice(0))
  }
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
n=$(($(wc -c <"$t")))
[ "$n" -le ${LIMITS.record} ] || { rm -f "$t"; fail EFBIG; }
printf 'o %d\\n' "$n"
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
