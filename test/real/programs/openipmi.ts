import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.js'
import { cachedPeer } from '../peer-cache.js'
import { debianFolder } from '../peers.js'

/** The folder with OpenIPMI's simulated BMC. The packages are unpacked only: once installed, one would start a service. */
export const openIpmiFolder = (): Promise<string> =>
  cachedPeer('openipmi', async (building) => {
    for (const name of ['openipmi', 'libopenipmi0', 'libpopt0']) await debianFolder(name, building)
    return building
  })

/** The one BMC that `ipmi_sim` is: no part of ironstage. It has cipher suites up to 3. */
export interface OpenIpmi extends AsyncDisposable {
  readonly port: number
  /** Its calls of the chassis: `set power 1`. */
  chassisCalls(): Promise<readonly string[]>
}

const lanConf = (port: number, chassis: string, { username, password }: { username: string; password: string }) => `
name "bmc"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 ${port}
    priv_limit admin
    guid a123456789abcdefa123456789abcdef
  endlan
  chassis_control "${chassis}"
  user 1 false "" "" user 10 none
  user 2 true "${username}" "${password}" admin 10 none
`

const EMULATION = `
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02
mc_enable 0x20
`

/** A chassis whose power is a file. */
const chassisScript = (folder: string): string => `#!/bin/sh
echo "$@" >> ${folder}/calls
operation=$1
shift
while [ $# -gt 0 ]; do
  case "$operation $1" in
    'get power') echo "power:$(cat ${folder}/power)" ;;
    'set power') echo "$2" > ${folder}/power; shift ;;
    'set '*) shift ;;
  esac
  shift
done
`

/** Starts a BMC on a free port of loopback, in front of a machine that is off. */
export async function openIpmi(account: { username: string; password: string }): Promise<OpenIpmi> {
  const root = join(await openIpmiFolder(), 'root/usr')
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-openipmi-'))
  const port = await freePort()
  const at = (name: string): string => join(folder, name)
  await mkdir(at('state'))
  await writeFile(at('power'), '0\n')
  await writeFile(at('calls'), '')
  await writeFile(at('chassis'), chassisScript(folder))
  await writeFile(at('lan.conf'), lanConf(port, `/bin/sh ${at('chassis')}`, account))
  await writeFile(at('bmc.emu'), EMULATION)
  const libraries = join(root, 'lib', process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu')
  const argv = ['-c', at('lan.conf'), '-f', at('bmc.emu'), '-s', at('state'), '-n']
  const child = spawn(join(root, 'bin/ipmi_sim'), argv, { env: { LD_LIBRARY_PATH: libraries }, stdio: 'ignore' })
  await once(child, 'spawn')
  return {
    port,
    chassisCalls: async () => (await readFile(at('calls'), 'utf8')).split('\n').filter(Boolean),
    [Symbol.asyncDispose]: async () => {
      await ended(child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'close')
  child.kill('SIGKILL')
  await gone
}
