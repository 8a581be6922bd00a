import { posix } from 'node:path'
import { UserError } from '../../base/runtime/index.js'
import type { TargetFiles } from '../executor.js'
import type { Conversation } from './conversation.js'
import { OUTPUT_LIMITS } from './output-limits.js'
import { RUNS } from './supervised-scripts.js'
import { printfCommands, shellWord } from './shell-words.js'

/** Largest file inside a script, in bytes; a larger one is sent first, and the script renames it. */
const MAX_INLINE_FILE = 256 * 1024

/**
 * Files of a target, read and written by scripts. What is read at the same time is read by one script: starting a shell,
 * and over SSH a channel, takes longer than reading a small file.
 *
 * @param allow called with each path before it is changed; throws for one that must not be
 */
export function supervisedFiles(conversation: Conversation, allow: (path: string) => void): TargetFiles {
  const reading = new Reading(conversation)
  return {
    read: async (path) => {
      let bytes: Uint8Array | undefined
      await reading.ask('open', path, READ_SCRIPT, (record) => {
        if (record.kind === 'output') bytes = record.bytes
      })
      return bytes ?? new Uint8Array()
    },
    write: async (path, bytes, { mode = 0o644 } = {}) => {
      const plain = normalized(path, allow)
      const staged = bytes.length > MAX_INLINE_FILE ? await conversation.stage(bytes) : null
      const input =
        staged === null
          ? `{ [ ! -e "$t" ] || rm -f "$t"; } && set -C && {\n${printfCommands(bytes)}\n} >"$t"`
          : `mv -f ${shellWord(staged)} "$t" 2>/dev/null || [ -f "$t" ]`
      await askQuestion(conversation, new Question('write', plain, writeScript(input, bytes.length, mode)))
    },
    remove: async (path) => {
      await askQuestion(conversation, new Question('unlink', normalized(path, allow), REMOVE))
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

/** Path as it was allowed and is changed: after a link, `..` is another folder to a shell than in the text. */
function normalized(path: string, allow: (path: string) => void): string {
  const plain = posix.normalize(path)
  allow(plain)
  return plain
}

type ConversationAnswer = Parameters<Parameters<Conversation['ask']>[1]>[0]

/** One access to a file, and what came of it. */
class Question {
  /** Error code or sentence of the target; null when it succeeded. */
  failure: string | null = null

  constructor(
    readonly what: string,
    readonly path: string,
    readonly body: string,
    readonly take: (record: ConversationAnswer) => void = () => {},
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

async function askQuestion(conversation: Conversation, question: Question): Promise<void> {
  await askAll(conversation, [question])
  question.throwFailure(conversation.name)
}

/** Collects what is asked until the event loop turns. */
class Reading {
  #waiting: Question[] = []
  #answers: Promise<void> | null = null

  constructor(private readonly conversation: Conversation) {}

  async ask(what: string, path: string, body: string, take: (record: ConversationAnswer) => void): Promise<void> {
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

/** Opening a device or a pipe may do something, or wait for ever. */
const CHECK_READ = `[ -e "$f" ] || fail ENOENT
[ ! -d "$f" ] || fail EISDIR
[ -f "$f" ] || fail EINVAL
[ -r "$f" ] || fail EACCES`

/** Copies the file first: files of sysfs show their length only when read, and those of procfs change between two reads. */
const READ_SCRIPT = `${CHECK_READ}
[ -d "$base/${RUNS}/.read" ] || mkdir -p "$base/${RUNS}/.read"
t=$base/${RUNS}/.read/$$
head -c ${OUTPUT_LIMITS.record + 1} "$f" >"$t" 2>/dev/null || { rm -f "$t"; fail EIO; }
n=$(($(wc -c <"$t")))
[ "$n" -le ${OUTPUT_LIMITS.record} ] || { rm -f "$t"; fail EFBIG; }
printf 'o %d\\n' "$n"
cat "$t"
rm -f "$t"`

/** Folders below that of ironstage whose files are trusted, and that no file of a step is in. */
export const RECORD_FOLDERS = [RUNS, 'loops'] as const

/**
 * Goes to the folder of the file. Every change is then relative to it: links that are changed later lead nowhere. Refuses a
 * folder of records under any of its names, as seen through another root, a bind mount or a link.
 */
const ENTER = `
apart() {
  for k in "$base/${RUNS}"/* "$base/${RUNS}/.new"/*; do [ ! . -ef "$k" ] || fail EACCES; done
  at=.
  while :; do
    for k in ${RECORD_FOLDERS.join(' ')}; do [ ! "$at" -ef "$base/$k" ] || fail EACCES; done
    [ -d "$at/.." ] || fail ENOENT
    [ ! "$at" -ef "$at/.." ] || return 0
    at=$at/..
  done
}
enter() { cd -P "$1" 2>/dev/null || fail EACCES; apart; }
name=\${f##*/} folder=\${f%/*}/
n=./$name t=./.$name.ironstage`

/** Replaces the file by a rename, so that no process reads half of it and the script is idempotent. */
const writeScript = (input: string, length: number, mode: number): string => `${ENTER}
at=$folder
while [ ! -d "$at" ] && [ -n "$at" ]; do at=\${at%/}; at=\${at%/*}/; done
enter "\${at:-/}"
[ -d "$folder" ] || mkdir -p "$folder" 2>/dev/null || fail EACCES
enter "$folder"
[ ! -d "$n" ] || fail EISDIR
[ ! -L "$t" ] || rm -f "$t"
( ${input} ) 2>/dev/null || fail EIO
[ "$(($(wc -c <"$t")))" -eq ${length} ] || { rm -f "$t"; fail EIO; }
chmod ${mode.toString(8)} "$t" && mv -f "$t" "$n" || { rm -f "$t"; fail EIO; }`

const REMOVE = `${ENTER}
[ -e "$f" ] || [ -L "$f" ] || { printf 'k\\n'; exit 0; }
enter "$folder"
[ ! -d "$n" ] || fail EISDIR
rm -f "$n" 2>/dev/null || fail EACCES`

const EXISTS = `if [ -e "$f" ] || [ -L "$f" ]; then printf 'y\\n'; fi`

const LIST = `
[ -e "$f" ] || fail ENOENT
[ -d "$f" ] || fail ENOTDIR
[ -r "$f" ] || fail EACCES
[ -d "$base/${RUNS}/.read" ] || mkdir -p "$base/${RUNS}/.read"
t=$base/${RUNS}/.read/$$
ls -1A "$f" >"$t" 2>/dev/null
printf 'o %d\\n' "$(($(wc -c <"$t")))"
cat "$t"
rm -f "$t"`
