import { silent, UserError, type Clock, type Random } from '../../base/runtime/index.js'
import { describeConfinement, findConfinement } from '../confinement/confinement.js'
import { ERRORS } from '../errors.js'
import { localShell } from '../supervised/local-shell.js'
import { SupervisedExecutor } from '../supervised/supervised-executor.js'
import { missingGptParser, missingUdev } from './host-lacks.js'
import { findInstaller } from './installer.js'

/** One thing that a local target needs of this host. */
export interface LocalReadiness {
  needed: 'loop devices' | 'confinement' | 'coreos-installer' | 'udev' | 'partition tables'
  /** The finding, or the problem with its remedy. */
  found: string | UserError
}

export interface LocalReadinessOptions {
  /** `PATH` and `HOME` of the programs. */
  environment: Readonly<Record<string, string | undefined>>
  clock: Clock
  random: Random
}

/** Finds what `deploy --target local:` needs of this host, without touching a disk. Each thing is tried by itself. */
export async function localReadiness({ environment, clock, random }: LocalReadinessOptions): Promise<LocalReadiness[]> {
  const shell = localShell(clock, environment)
  await using host = new SupervisedExecutor({ shell, clock, random })
  return [
    { needed: 'loop devices', found: await orProblem(findLoopDevice(host)) },
    { needed: 'confinement', found: await orProblem(findCell(host)) },
    { needed: 'coreos-installer', found: await orProblem(findInstaller(host, {}).then(({ program }) => program)) },
    { needed: 'udev', found: (await missingUdev(host)) ?? 'udevd runs' },
    { needed: 'partition tables', found: (await missingGptParser(host)) ?? 'the kernel reads GPT' },
  ]
}

async function orProblem(finding: Promise<string>): Promise<string | UserError> {
  try {
    return await finding
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
}

async function findCell(host: SupervisedExecutor): Promise<string> {
  const confinement = await findConfinement({ host, name: 'this host', unguarded: false, logger: silent })
  return confinement === null ? 'none' : describeConfinement(confinement)
}

/** A file stands for a disk through a loop device. */
async function findLoopDevice(host: SupervisedExecutor): Promise<string> {
  const [line] = await host.lines(`
if [ ! -w /dev/loop-control ]; then printf 'w /dev/loop-control cannot be written\\n'
elif ! command -v losetup >/dev/null 2>&1; then printf 'w there is no losetup\\n'
else printf 'l %s\\n' "$(losetup --find 2>&1)"
fi`)
  if (line?.tag === 'l' && /^\/dev\/loop\d+$/.test(line.text)) return `${line.text} is free`
  throw new UserError('loop-device', `no file can stand for a disk: ${line?.text ?? 'losetup printed nothing'}`, {
    remedy: ERRORS['loop-device'].remedy,
  })
}
