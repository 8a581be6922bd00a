import { executeBootcInstall } from '../../steps/bootc/execute-bootc-install.js'
import type { RunningCommand, Target, TargetCommand } from '../../targets/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { stepMachine, testDisk } from './step-machine.js'

export interface Podman {
  /** Exit code and words of `podman pull`, and of `podman run`. */
  pull?: { code: number; stderr: string }
  run?: { code?: number; stdout?: string; stderr?: string; leavesDiskEmpty?: boolean }
  selinux?: string
  /** Size of the disk. */
  gib?: number
}

const ended = ({
  code = 0,
  stdout = '',
  stderr = '',
}: {
  code?: number
  stdout?: string
  stderr?: string
}): RunningCommand => ({
  id: 'podman',
  output: (async function* () {
    await Promise.resolve()
    if (stdout) yield { stream: 'stdout', bytes: Buffer.from(stdout) }
    if (stderr) yield { stream: 'stderr', bytes: Buffer.from(stderr) }
  })(),
  exit: Promise.resolve({ kind: 'exited', code }),
  cancel: () => Promise.resolve(),
})

/** A machine whose podman has a registry and containers, and what it was asked for. */
export async function machineWithPodman({ pull = { code: 0, stderr: '' }, run = {}, selinux, gib = 20 }: Podman = {}) {
  const scene = await stepMachine([testDisk('sda', gib)])
  const asked: string[] = []
  const secrets: string[] = []
  const { target } = scene.machine
  const start = async (command: TargetCommand): Promise<RunningCommand> => {
    const [program, verb] = command.argv
    if (program === 'getenforce' && selinux !== undefined) return ended({ stdout: selinux })
    if (program !== 'podman') return target.executor.start(command)
    asked.push(command.argv.join(' '))
    const file = command.argv.find((word) => word.startsWith('--authfile='))?.slice('--authfile='.length)
    if (file !== undefined) secrets.push(Buffer.from(await target.executor.files.read(file)).toString())
    if (verb === 'pull') return ended(pull)
    if (!run.code && !run.leavesDiskEmpty) await scene.say('sgdisk --new=1:0:+512M --change-name=1:EFI-SYSTEM /dev/sda')
    return ended(run)
  }
  const watched: Target = { ...target, has: (what) => target.has(what), executor: { ...target.executor, start } }
  const executor = { files: target.executor.files, start, attach: watched.executor.attach }
  return {
    scene,
    asked,
    secrets,
    install: (args: JsonObject = {}, node: JsonObject = {}) =>
      scene.run(executeBootcInstall, { image_source: 'oci://registry.example:5000/os:1', ...args }, node, {
        target: { ...watched, disks: target.disks, hostPath: target.hostPath, executor },
      }),
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  }
}
