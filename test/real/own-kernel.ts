import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cachedPeer } from './peer-cache.js'
import { debianProgram, quoted, succeeds, tool } from './peers.js'

const INIT = fileURLToPath(new URL('./peers/own-kernel.sh', import.meta.url))
const TREE = fileURLToPath(new URL('../..', import.meta.url))
/** Every system call of its programs takes two changes of process: it is ten times as slow as this host, and more. */
const OWN_KERNEL_TIMEOUT = 2_400_000

/**
 * Runs shell text on a kernel of its own, as root: Debian's User Mode Linux, a Linux that is a process. It has what a
 * kernel of a test machine may lack (arrays, volumes, a reader of GPT), sees no disk of this host, and its end takes all
 * of its devices along. This host's files are there to be read, and `folder` by the same name to be written too.
 *
 * @param environment words for the text
 * @returns what the text printed, and its exit code; null where the kernel ended before it did
 */
export async function onOwnKernel(
  folder: string,
  text: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; out: string }> {
  await debianProgram('insmod', 'kmod')
  const uml = await userModeLinux()
  // Its sockets' paths have to be short; its memory is a file in TMPDIR.
  const own = await mkdtemp(join(tmpdir(), 'uml-'))
  try {
    await writeFile(join(own, 'script'), text)
    const words = { OWN: own, FOLDER: folder, TREE, MODULES: join(uml, 'usr/lib/uml/modules'), ...environment }
    await writeFile(
      join(own, 'env'),
      Object.entries(words)
        .map(([name, word]) => `${name}=${quoted(word)}\n`)
        .join(''),
    )
    await writeFile(join(own, 'out'), '')
    const child = spawn(
      join(uml, 'usr/bin/linux.uml'),
      [
        'mem=2G',
        'root=/dev/root',
        'rootfstype=hostfs',
        'rootflags=/',
        'ro',
        'quiet',
        `uml_dir=${own}`,
        'con=null',
        'con0=null,fd:1',
        'ssl=null',
        `OWN=${own}`,
        'init=/bin/sh',
        '--',
        INIT,
      ],
      // Told to end, it takes all its processes along.
      { stdio: ['ignore', 'pipe', 'pipe'], timeout: OWN_KERNEL_TIMEOUT, killSignal: 'SIGTERM' },
    )
    let console = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => (console = (console + bytes.toString()).slice(-4000)))
    await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
    const code = await readFile(join(own, 'code'), 'utf8').catch(() => null)
    const out = await readFile(join(own, 'out'), 'utf8')
    return { code: code === null ? null : Number(code), out: code === null ? `${out}\n${console}` : out }
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

/** User Mode Linux, unpacked into the cache; nothing is installed. */
export const userModeLinux = (): Promise<string> =>
  cachedPeer('user-mode-linux', async (building) => {
    const unpack = 'cd "$1" && apt-get download user-mode-linux && dpkg-deb -x *.deb tree'
    const { code } = await tool('sh', '-c', unpack, 'sh', building)
    if (code !== 0) await succeeds('sh', '-c', `apt-get update && ${unpack}`, 'sh', building)
    return join(building, 'tree')
  })
