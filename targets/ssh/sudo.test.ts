import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import ssh2, { type ParsedKey } from 'ssh2'
import { errorChain, silent, systemClock, systemRandom } from '../../base/runtime/index.js'
import { Home, newKey, SshHost } from '../../test/kit/ssh-host.js'
import { runCommand } from '../../steps/sdk/run-command.js'
import { LinkLost } from '../supervised/login-shell.js'
import { SupervisedExecutor } from '../supervised/supervised-executor.js'
import { parseSshTarget } from './address.js'
import { parsePins } from './host-keys.js'
import { formatFingerprint } from './known-hosts.js'
import { openSshShell } from './ssh-shell.js'

const clock = systemClock()
const hostKey = newKey().private
const pins = parsePins([formatFingerprint((ssh2.utils.parseKey(hostKey) as ParsedKey).getPublicSSH())])
const PASSWORD = 'c@nary pa$$word'

/** A sudo that supports `sudo -S -p QUESTION PROGRAM ...`; files in the folder make it ask for a password or refuse. */
const SUDO = (folder: string) => `#!/bin/sh
printf '%s\\n' "$*" >>'${folder}/argv'
[ "$1" = -S ] && [ "$2" = -p ] || exit 9
question=$3
shift 3
[ ! -f '${folder}/lecture' ] || cat '${folder}/lecture' >&2
if [ -f '${folder}/password' ]; then
  tries=0
  while :; do
    printf '%s' "$question" >&2
    IFS= read -r typed || { echo 'sudo: no password was provided' >&2; exit 1; }
    printf '%s\\n' "$typed" >>'${folder}/typed'
    [ "$typed" = "$(cat '${folder}/password')" ] && break
    tries=$((tries + 1))
    [ "$tries" -lt 3 ] || { echo 'sudo: 3 incorrect password attempts' >&2; exit 1; }
    echo 'Sorry, try again.' >&2
  done
fi
[ ! -f '${folder}/refused' ] || { cat '${folder}/refused' >&2; exit 1; }
exec "$@"
`

let home: Home
let host: SshHost
const file = (name: string) => join(home.path, name)
beforeEach(async () => {
  home = await Home.make()
  await writeFile(file('sudo'), SUDO(home.path))
  await chmod(file('sudo'), 0o755)
  host = await SshHost.open({ hostKeys: [hostKey], identity: await ownIdentity(), path: home.path })
})
afterEach(async () => {
  await host[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

/** Identity of this host, which root's shell prints here; a user must see the same. */
async function ownIdentity() {
  const text = (path: string) =>
    readFile(path, 'utf8').then(
      (read) => read.trim(),
      () => '',
    )
  return { uid: 1000, machine: await text('/etc/machine-id'), boot: await text('/proc/sys/kernel/random/boot_id') }
}

const typed = () => readFile(file('typed'), 'utf8').catch(() => '')

function reach(password: string | null, asked: string[] = []) {
  return openSshShell({
    address: parseSshTarget(`ssh://core@127.0.0.1:${host.port}`),
    surroundings: { home: home.path, userName: 'me', agentSocket: null },
    secrets: {
      ask: ({ kind }) => {
        asked.push(kind)
        return Promise.resolve(password)
      },
    },
    pins,
    clock,
    random: systemRandom,
    logger: silent,
  })
}

async function outcome(opening: ReturnType<typeof reach>, line: string, stdin: string) {
  await using shell = await opening
  const channel = await shell.open(line, { stdin: Buffer.from(stdin) })
  const all = async (stream: AsyncIterable<Uint8Array>) => {
    let text = ''
    for await (const bytes of stream) text += Buffer.from(bytes).toString()
    return text
  }
  return await Promise.all([all(channel.stdout), all(channel.stderr), channel.exit])
}

async function why(opening: Promise<AsyncDisposable>): Promise<string> {
  try {
    await (await opening)[Symbol.asyncDispose]()
    return 'it was reached'
  } catch (error) {
    return [(error as { code?: string }).code, ...errorChain(error), (error as { remedy?: string }).remedy].join(' | ')
  }
}

describe("root by sudo, from a user's account", () => {
  test.each([
    ['without a password', null, null],
    ['with a password', PASSWORD, null],
    ['with a password and a lecture', PASSWORD, 'We trust you have received the usual lecture.\n'],
  ])('%s: the line, its input and outputs arrive whole', async (_, password, lecture) => {
    if (password !== null) await writeFile(file('password'), password)
    if (lecture !== null) await writeFile(file('lecture'), lecture)
    const asked: string[] = []
    const input = 'first\n$HOME `x`\n'
    expect(await outcome(reach(password, asked), `sh -c 'cat; echo "it is" >&2; exit 5'`, input)).toEqual([
      input,
      'it is\n',
      5,
    ])
    expect(asked).toEqual(password === null ? [] : ['sudo'])
    const argv = await readFile(file('argv'), 'utf8')
    expect(argv).not.toContain(PASSWORD)
    expect(argv).not.toContain('it is')
  })

  test('a wrong password is sent once, and nothing else is sent as a password', async () => {
    await writeFile(file('password'), 'another')
    const asked: string[] = []
    expect(await why(reach(PASSWORD, asked))).toMatch(/sudo-password.*refuses the password/)
    expect(await typed()).toBe(`${PASSWORD}\n`)
    expect(asked).toEqual(['sudo'])
  })

  test.each([
    ['a password that is not known', 'password', PASSWORD, /sudo-password.*needs a password.*IRONSTAGE_SUDO_PASSWORD/],
    [
      'a user who may not',
      'refused',
      'core is not in the sudoers file.\n',
      /sudo-refused.*core is not in the sudoers file/,
    ],
  ])('%s', async (_, name, content, expected) => {
    await writeFile(file(name), content)
    expect(await why(reach(null))).toMatch(expected)
  })

  test('no sudo there', async () => {
    await rm(file('sudo'))
    await writeFile(file('sudo'), '#!/bin/sh\necho "sudo: not found" >&2\nexit 127\n')
    await chmod(file('sudo'), 0o755)
    expect(await why(reach(null))).toMatch(/sudo-refused.*sudo: not found/)
  })

  test('a link that is lost while sudo asks is reported as a lost link', async () => {
    await using shell = await reach(null)
    await writeFile(file('sudo'), '#!/bin/sh\nsleep 5\n')
    const opening = shell.open('true')
    opening.catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 100))
    host.cut()
    await expect(opening).rejects.toBeInstanceOf(LinkLost)
  })

  test('commands and files work as on any other target', async () => {
    await writeFile(file('password'), PASSWORD)
    await using shell = await reach(PASSWORD)
    await using executor = new SupervisedExecutor({ shell, clock, random: systemRandom, folder: file('runs') })
    expect((await runCommand(executor, ['printf', '%s|', 'a b', "it's"], { effect: 'reads' })).stdout).toBe("a b|it's|")
    await executor.files.write(file('note'), Buffer.from('x'), { mode: 0o600 })
    expect(await readFile(file('note'), 'utf8')).toBe('x')
  })
})
