import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { printing } from '../environment.js'
import { secretSource } from './secret-source.js'

function scene(variables: Record<string, string> = {}, terminal = true) {
  const shown: string[] = []
  const raw: boolean[] = []
  const stdin = Object.assign(new PassThrough(), { isTTY: terminal, setRawMode: (on: boolean) => void raw.push(on) })
  const output = { write: (text: string | Uint8Array) => void shown.push(String(text)) }
  const environment = printing({
    argv: [],
    variables,
    stdin,
    stdout: output,
    stderr: output,
    stopped: new AbortController().signal,
  })
  return { source: secretSource(environment), stdin, shown, raw }
}

const PASSWORD = { kind: 'password', about: 'password of core@lab', echo: false } as const

test('a secret of the environment is not asked for', async () => {
  const { source, shown } = scene({ IRONSTAGE_SSH_PASSWORD: 'p', IRONSTAGE_SUDO_PASSWORD: 's' })
  expect(await source.ask(PASSWORD)).toBe('p')
  expect(await source.ask({ kind: 'sudo', about: '', echo: false })).toBe('s')
  expect(shown).toEqual([])
})

test('without a terminal there are none', async () => {
  expect(await scene({}, false).source.ask(PASSWORD)).toBeNull()
})

test('typed characters are not shown, and can be corrected', async () => {
  const { source, stdin, shown, raw } = scene()
  const answer = source.ask(PASSWORD)
  stdin.write('secrex\x7f')
  stdin.write('t\r')
  expect(await answer).toBe('secret')
  expect(shown.join('')).toBe('password of core@lab: \n')
  expect(raw).toEqual([true, false])
})

test('questions come one after the other; others than secrets are shown', async () => {
  const { source, stdin, shown } = scene()
  const answers = [source.ask(PASSWORD), source.ask({ kind: 'answer', about: 'Token:', echo: true })]
  setTimeout(() => stdin.write('one\r'), 5)
  expect(await answers[0]).toBe('one')
  setTimeout(() => stdin.write('two\n'), 5)
  expect(await answers[1]).toBe('two')
  expect(shown.join('')).toBe('password of core@lab: \nToken: two\n')
})

test('the end of the input is no answer', async () => {
  const { source, stdin } = scene()
  const answer = source.ask(PASSWORD)
  stdin.write('\x04')
  expect(await answer).toBeNull()
})
