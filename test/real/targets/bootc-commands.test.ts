import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { StepError } from '../../../steps/index.js'
import { machineWithPodman } from '../../kit/podman-machine.js'
import { pythonPeer } from '../peers.js'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

type Ended = [code: number, stdout: string, stderr: string]

/** A call of execute_bootc_install, and how its programs end. */
interface BootcRow {
  source: string
  gib: number
  /** Base64 of the secret. */
  secret?: string
  luks?: boolean
  keys?: string
  selinux?: string
  pull?: Ended
  run?: Ended
}

interface BootcAnswer {
  ran: unknown[]
  error: [type: string, details: string] | null
}

const secret = Buffer.from('pass word').toString('base64')
const source = 'oci://registry.example:5000/org/os:1'

const ROWS: readonly BootcRow[] = [
  { source, gib: 20 },
  { source: 'oci://registry.example/os', gib: 64, secret },
  { source: `oci://registry.example/os@sha256:${'a'.repeat(64)}`, gib: 20, luks: true },
  { source, gib: 20, keys: 'ssh-ed25519 AAAA me\n', selinux: 'Enforcing\n' },
  { source, gib: 20, secret, luks: true, keys: 'k', selinux: 'Permissive\n' },
  { source, gib: 20, selinux: 'Disabled\n' },
  { source, gib: 20, secret, pull: [125, '', 'Error: initializing source: "quoted" and \'quoted\'\n'] },
  { source, gib: 20, pull: [125, 'Trying\n', ''] },
  { source, gib: 20, run: [1, 'Installing image\n', 'ERROR no space\n'] },
  { source, gib: 20, run: [0, '', 'crun: executable file `bootc` not found in $PATH\n'] },
]

/** Runs each row with the code of the real agent. */
async function realAnswers(): Promise<BootcAnswer[]> {
  const venv = await pythonPeer(at('../peers/ipa.txt'))
  const child = spawn(`${venv}/bin/python`, [at('../peers/bootc-commands.py')], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(ROWS))
  const [out] = await Promise.all([text(child.stdout), once(child, 'close')])
  return JSON.parse(out) as BootcAnswer[]
}

const end = ([code, stdout, stderr]: Ended) => ({ code, stdout, stderr })

async function ourAnswer(row: BootcRow): Promise<Pick<BootcAnswer, 'error'> & { ran: string[] }> {
  const { pull = [0, '', ''], run = [0, '', ''], selinux = '', gib } = row
  await using machine = await machineWithPodman({ pull: end(pull), run: end(run), selinux, gib })
  const instance_info = { bootc_authorized_keys: row.keys ?? null, bootc_tpm2_luks: row.luks ?? false }
  const args = { image_source: row.source, oci_pull_secret: row.secret ?? null }
  const error = await machine.install(args, { instance_info }).then(
    () => null,
    (failure: unknown): [string, string] => {
      if (!(failure instanceof StepError)) throw failure
      return [failure.type ?? '', failure.details ?? failure.message]
    },
  )
  return { ran: machine.asked, error }
}

/** Both make up the names of their files. */
const unnamed = (words: string): string =>
  words.replaceAll(/(--authfile=|--root-ssh-authorized-keys=)[^\s']+/g, '$1FILE')

test('the programs, the files and the errors of execute_bootc_install are those of the real agent', async () => {
  const real = await realAnswers()
  expect(real).toHaveLength(ROWS.length)
  for (const [index, row] of ROWS.entries()) {
    const ours = await ourAnswer(row)
    const { ran, error } = real[index]!
    const podman = ran.filter((one): one is string[] => Array.isArray(one) && one[0] === 'podman')
    expect(ours.ran.map(unnamed), JSON.stringify(row)).toEqual(podman.map((words) => words.join(' ')))
    expect(ours.error && [ours.error[0], unnamed(ours.error[1])], JSON.stringify(row)).toEqual(error)
  }
  const authFile = real[1]!.ran.find((one) => Array.isArray(one) && one[1] === '--authfile=')
  expect(authFile).toEqual(['file', '--authfile=', '{"auths": {"registry.example": {"auth": "pass word"}}}'])
})
