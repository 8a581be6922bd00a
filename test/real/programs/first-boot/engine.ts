import {
  chmod,
  chown,
  lchown,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BASE_CONFIG } from '../../../../machine/ignition/config-acquisition.js'
import { IGNITION_STAGES } from '../../../../machine/ignition/run-ignition.js'
import { recordsOf, type RootRecord } from '../../../../machine/root/root-records.js'
import type { RootTree } from '../../../../machine/root/root-tree.js'
import type { IgnitionRunResult } from '../../../kit/first-boot-run.js'
import { goPeer } from '../../go-peer.js'
import { debianPackages, debianProgram, tool } from '../../peers.js'

const ENGINE = new URL('../../peers/ignition-engine', import.meta.url).pathname
const VERSION = 'github.com/coreos/ignition/v2/internal'

/** The real Ignition, with the programs that it starts. It does not ask the kernel for labels here. */
export async function realEngine(): Promise<string> {
  await debianProgram('gcc', 'gcc')
  await debianProgram('useradd', 'passwd')
  await debianProgram('unshare', 'util-linux')
  await debianPackages(['libblkid-dev'])
  const settings = [`${VERSION}/version.Raw=2.26.0`, `${VERSION}/distro.selinuxRelabel=false`]
  return goPeer(ENGINE, {
    main: VERSION,
    cgo: true,
    flags: ['-ldflags', settings.map((setting) => `-X ${setting}`).join(' ')],
  })
}

/** Runs all stages on a copy of a tree, in namespaces of their own. */
export async function runEngine(program: string, base: RootTree, config: string): Promise<IgnitionRunResult> {
  const folder = await mkdtemp(join(tmpdir(), 'first-boot-'))
  try {
    // Users other than root write below it.
    await chmod(folder, 0o755)
    const root = join(folder, 'root')
    await mkdir(root)
    await writeTree(root, base)
    await mkdir(join(folder, 'config/base.d'), { recursive: true })
    await writeFile(join(folder, 'config/base.d/00-core.ign'), BASE_CONFIG)
    await writeFile(join(folder, 'config/user.ign'), config)
    const argv = ['--mount', '--uts', '--ipc', '--pid', '--fork', 'sh', '-c', SCRIPT, 'sh', program, folder]
    const { code, stdout } = await tool('unshare', ...argv, ...IGNITION_STAGES)
    return {
      base: recordsOf(base),
      tree: await readTree(root),
      failed: code !== 0,
      journal: stdout.replaceAll(root, '/sysroot').split('\n').filter(Boolean),
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const SCRIPT = `
  program=$1 folder=$2; shift 2
  umask 022
  export IGNITION_SYSTEM_CONFIG_DIR="$folder/config"
  for stage; do
    "$program" --root "$folder/root" --platform metal --stage "$stage" --log-to-stdout \\
      --config-cache "$folder/cache.json" --state-file "$folder/state" --neednet "$folder/neednet" 2>/dev/null || exit 1
  done
`

async function writeTree(root: string, tree: RootTree): Promise<void> {
  for (const [path, record] of recordsOf(tree)) {
    const at = root + path
    if (record.kind === 'hard') {
      await link(root + record.to, at)
      continue
    }
    if (record.kind === 'link') await symlink(record.target, at)
    else if (record.kind === 'directory') await mkdir(at)
    else await writeFile(at, Buffer.from(record.base64, 'base64'))
    if (record.kind === 'link') await lchown(at, record.uid, record.gid)
    else {
      await chown(at, record.uid, record.gid)
      await chmod(at, record.mode)
    }
  }
}

async function readTree(root: string): Promise<Map<string, RootRecord>> {
  const tree = new Map<string, RootRecord>()
  const inodes = new Map<number, string>()
  const visit = async (folder: string): Promise<void> => {
    for (const name of (await readdir(root + folder)).sort()) {
      const path = `${folder}/${name}`
      const stat = await lstat(root + path)
      const { ino, mode, uid, gid } = stat
      const owned = { mode: mode & 0o7777, uid, gid }
      if (stat.isDirectory()) {
        tree.set(path, { kind: 'directory', ...owned })
        await visit(path)
        continue
      }
      const known = inodes.get(ino)
      inodes.set(ino, known ?? path)
      if (known !== undefined) tree.set(path, { kind: 'hard', to: known })
      else if (stat.isSymbolicLink()) tree.set(path, { kind: 'link', uid, gid, target: await readlink(root + path) })
      else tree.set(path, { kind: 'file', ...owned, base64: (await readFile(root + path)).toString('base64') })
    }
  }
  await visit('')
  return tree
}
