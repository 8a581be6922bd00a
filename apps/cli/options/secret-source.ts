import { userInfo, homedir } from 'node:os'
import type { SecretQuestion, SecretSource } from '../../../targets/index.js'
import type { Environment } from '../environment.js'

/** Variables that replace the questions at a terminal. */
const VARIABLES: Partial<Record<SecretQuestion['kind'], string>> = {
  password: 'IRONSTAGE_SSH_PASSWORD',
  passphrase: 'IRONSTAGE_SSH_PASSPHRASE',
  sudo: 'IRONSTAGE_SUDO_PASSWORD',
}
export const SECRET_VARIABLES: readonly string[] = Object.values(VARIABLES)

/** A terminal that can hide what is typed. */
interface Terminal {
  isTTY?: boolean
  setRawMode?(raw: boolean): unknown
}

/** Secrets out of the environment, else asked for at the terminal; none where there is neither. */
export function secretSource(environment: Environment): SecretSource {
  let asking: Promise<unknown> = Promise.resolve()
  return {
    ask: ({ kind, about, echo }) => {
      const variable = VARIABLES[kind]
      const known = variable === undefined ? undefined : environment.variables[variable]
      if (known !== undefined && known !== '') return Promise.resolve(known)
      const { isTTY = false, setRawMode } = environment.stdin as Environment['stdin'] & Terminal
      if (!isTTY || !setRawMode) return Promise.resolve(null)
      // One question at a time.
      const answer = asking.then(() => askUser(environment, `${about.replace(/[:\s]*$/, '')}: `, echo))
      asking = answer.catch(() => {})
      return answer
    },
  }
}

const ENTER = '\r'
const NEW_LINE = '\n'
const BACKSPACE = '\b'
const DELETE = '\x7f'
const INTERRUPT = '\x03'
const END_OF_INPUT = '\x04'

function askUser({ stdin, stderr, stopped }: Environment, question: string, echo: boolean): Promise<string | null> {
  const terminal = stdin as Environment['stdin'] & Required<Pick<Terminal, 'setRawMode'>>
  stderr.question(question)
  terminal.setRawMode(true)
  return new Promise((resolve) => {
    let answer = ''
    const done = (value: string | null) => {
      terminal.setRawMode(false)
      stopped.removeEventListener('abort', stop)
      stdin.off('data', take)
      stdin.pause()
      stderr.line('')
      resolve(value)
    }
    const take = (chunk: Buffer | string) => {
      for (const character of String(chunk)) {
        if (character === ENTER || character === NEW_LINE) return done(answer)
        if (character === INTERRUPT) {
          // The signal stops the command and its question; resolving first would count as an answer.
          stdin.off('data', take)
          return void process.kill(process.pid, 'SIGINT')
        }
        if (character === END_OF_INPUT) return done(answer === '' ? null : answer)
        if (character === BACKSPACE || character === DELETE) {
          if (echo && answer !== '') stderr.backspace()
          answer = answer.slice(0, -1)
        } else if (character >= ' ') {
          if (echo) stderr.question(character)
          answer += character
        }
      }
    }
    const stop = () => done(null)
    stopped.addEventListener('abort', stop)
    stdin.on('data', take)
    stdin.resume()
  })
}

/** The variables of this process that reaching a target needs. */
export function targetEnvironment({ variables }: Environment): Record<string, string | undefined> {
  return {
    PATH: variables['PATH'],
    HOME: variables['HOME'] || homedir(),
    USER: variables['USER'] || variables['LOGNAME'] || userName(),
    SSH_AUTH_SOCK: variables['SSH_AUTH_SOCK'],
  }
}

function userName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined
  }
}
