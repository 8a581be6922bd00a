import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silent, systemRandom } from '../../base/runtime/index.js'
import { stageFile } from '../../steps/index.js'
import { openSshShell, parsePins, parseSshTarget } from '../../targets/index.js'
import { rehearsedLab } from '../kit/hardware-lab/rehearsed-process.js'
import { LoopDevice } from '../real/loop-device.js'
import { SshMachine } from '../real/ssh-machine.js'
import { clock, median, timed, type Measured } from './measure.js'
import { succeeds } from '../real/peers.js'

const HOSTS = 40
const PARALLEL = 8
/** MiB that go through a link, and how often. */
const IMAGE = 256
const RUNS = 5
/** A link that is used to 80 % takes so much longer than one that is used whole. */
const SHARE = 1 / 0.8

/** The fastest where the processor has AES; ssh by itself takes ChaCha20. */
const CIPHER = 'aes128-gcm@openssh.com'
/** Stands for the image; no request goes there. */
const IMAGE_URL = 'http://127.0.0.1/image'

/** A rehearsal of a lab, and how well an image uses a host's link: against `dd | ssh` in the same run. The latter needs root. */
export async function labOfHosts(): Promise<Measured[]> {
  const { took, memory, ok } = await rehearsedLab(HOSTS, PARALLEL)
  if (ok !== HOSTS) throw new Error(`${HOSTS - ok} of ${HOSTS} rehearsed hosts failed`)
  const one = { peer: null, runs: 1 } as const
  return [
    { what: '40 rehearsed hosts, 8 at once', ...one, ours: took, unit: 'ms', reach: 60_000 },
    { what: 'memory of these, at most', ...one, ours: memory, unit: 'MiB', reach: 200 },
    await image(),
  ]
}

async function image(): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-bench-'))
  try {
    const path = join(folder, 'image.raw')
    await writeFile(path, randomBytes(IMAGE * 2 ** 20))
    await using disk = await LoopDevice.create(join(folder, 'disk.img'), '64M')
    await using machine = await SshMachine.open({ disk: disk.device })
    const address = parseSshTarget(`ssh://root@127.0.0.1:${machine.ports.any}`)
    const config = join(folder, 'ssh-config')
    await writeFile(config, `Host *\n  IdentityFile "${machine.keys.key}"\n  IdentitiesOnly yes\n`, { mode: 0o600 })
    await using shell = await openSshShell({
      address,
      clock,
      random: systemRandom,
      logger: silent,
      secrets: { ask: () => Promise.resolve(null) },
      surroundings: { home: folder, userName: 'root', agentSocket: null, configFile: config },
      pins: parsePins([`live=${await machine.hostKey()}`]),
    })
    const reach = { kind: 'port', forward: (port: number) => shell.forward(port) } as const
    const stage = stageFile({ path, digest: '0'.repeat(64) }, { reach, clock, random: systemRandom, logger: silent })
    const signal = new AbortController().signal
    await using staged = await stage({ url: IMAGE_URL, sha256: null, signature: 'where present' }, { signal })
    if (staged.from.kind !== 'url') throw new Error('the image is not served')
    const script = `exec curl -fsS -o /dev/null -w '%{size_download}' ${staged.from.url}`
    const fetched = async () => {
      const { stdout, stderr } = await machine.run(script)
      if (Number(stdout) !== IMAGE * 2 ** 20) throw new Error(`${stdout} bytes came: ${stderr}`)
    }
    const login = `ssh -F ${config} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o Ciphers=${CIPHER}`
    const sent = `dd if=${path} bs=1M status=none | ${login} -p ${machine.ports.any} root@127.0.0.1 'cat >/dev/null'`
    const ours: number[] = []
    // In turns: the machine may have other work.
    const peer = await median(RUNS, async () => {
      ours.push(await timed(fetched))
      return timed(() => succeeds('sh', '-c', sent))
    })
    return {
      what: 'image of 256 MiB through SSH to a host',
      ours: ours.sort((a, b) => a - b)[Math.floor(RUNS / 2)]!,
      peer: { name: 'dd | ssh', value: peer },
      reach: SHARE * peer,
      unit: 'ms',
      runs: RUNS,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
