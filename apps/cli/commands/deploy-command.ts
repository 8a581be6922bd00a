import { defined, parseSize } from '../../../base/runtime/index.js'
import { mkdtemp, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { EXAMPLE_IGNITION } from '../../../lab/index.js'
import { loadManagers, runDeployment, runRealDeployment, type RealTargetRequest } from '../../runs/index.js'
import { readIgnition } from '../../../ignition/index.js'
import { systemClock, systemRandom } from '../../../base/runtime/index.js'
import { standardManagers, type HardwareManager } from '../../../steps/index.js'
import type { MachineHardware } from '../../../machine/index.js'
import { temporaryFolder } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { readInputs, refuseButane } from '../options/input-files.js'
import { readOneMachine } from '../options/hardware-file.js'
import { bmcAccountOf } from '../options/bmc-account.js'
import { accessOf, endpointOf } from '../options/ironic-access.js'
import { imageNamed, makeCacheRequest } from '../options/cache-request.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { onlyShown, openFor, realTarget } from '../options/target-options.js'
import { watchDeployment } from './watched-deployment.js'
import type { DEPLOY_OPTIONS } from '../options/option-lists.js'
import { usageError } from '../usage-error.js'

type DeployOptions = CommandOptionValues<(typeof DEPLOY_OPTIONS)[number]>

/** `ironstage deploy`, and the demo. Exit code 0 only when the disk says what was asked. */
export async function deploy(options: DeployOptions, environment: Environment): Promise<number> {
  checkDeployOptions(options)
  const real = realTarget(options)
  const { json = false } = options
  const inputs = {
    ignition: await readConfig(options, environment),
    managers: options.steps && (await loadManagers(options.steps)),
  }
  if (inputs.managers && !json) environment.stderr.lines(unusedStepNotes(inputs.managers))
  if (real) return deployReal(options, real, inputs, environment)
  if (options['verify-boot'])
    throw usageError('--verify-boot is for a machine behind SSH: a simulated one is always checked', 'leave it out')
  if (options.plan)
    throw usageError('--plan is for a real target: a simulated machine has nothing to lose', 'leave --plan out')
  const { hardware, size } = await readMachineOptions(options)
  const { 'ironic-url': named } = options
  const ironicUrl = named === 'env' ? endpointOf(environment.variables) : named
  const access = ironicUrl === undefined ? undefined : await accessOf(environment.variables)
  const speed = options.speed ?? 1
  const isNew = options['disk-file'] === undefined && named === undefined
  await using folder = isNew ? await temporaryFolder() : undefined
  const file = folder ? join(folder.path, 'sda.img') : (options['disk-file'] ?? '')
  return await watchDeployment(
    environment,
    { clock: systemClock(speed), speed, json, reportFile: options.report },
    async (watching) => {
      const report = await runDeployment({
        ...deploymentOf(options, inputs),
        ...(await imageNamed(options, environment)),
        ...watching,
        ...defined({ hardware }),
        disk: { file, size, overwrite: options.overwrite ?? false },
        images: await makeCacheRequest(options, environment),
        ...defined({ ironicUrl, access }),
        ...bmcAccountOf(options, 'the account is then admin with the password password'),
        realistic: options.realistic ?? false,
      })
      return folder ? { ...report, disk: { ...report.disk, file: await moveOut(file) } } : report
    },
  )
}

/** Steps of a user's files run in a deployment by their priority: one without stays out of it, and Ironic says nothing. */
const unusedStepNotes = (managers: readonly HardwareManager[]): string[] =>
  managers
    .filter((manager) => !standardManagers.includes(manager))
    .flatMap(({ steps }) => steps)
    .filter(({ on, priority }) => on.includes('deploy') && !priority.deploy)
    .map(
      ({ name }) =>
        `note: ${name} has no priority, so this deployment does not run it: give it priority: { deploy: 90 }`,
    )

/** Moves the disk out of the temporary folder, since the report names it; without a report it is deleted there. */
async function moveOut(file: string): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'ironstage-')), basename(file))
  await rename(file, path)
  return path
}

interface LoadedInputs {
  ignition: Uint8Array
  managers: readonly HardwareManager[] | undefined
}

/** The part of a deployment that does not depend on the machine. */
const deploymentOf = (options: DeployOptions, { ignition, managers }: LoadedInputs) => ({
  ignition,
  checkIgnition: !options['no-ignition-check'],
  appendKargs: options['append-karg'] ?? [],
  deleteKargs: options['delete-karg'] ?? [],
  ...defined({ managers }),
  random: systemRandom,
})

/** Deploys a real machine: an Ironic of its own, the real installer, one disk. */
async function deployReal(
  options: DeployOptions,
  request: RealTargetRequest,
  inputs: LoadedInputs,
  environment: Environment,
): Promise<number> {
  for (const name of ['ironic-url', 'hardware', 'disk-file', 'disk-size', 'overwrite', 'realistic', 'speed'] as const)
    if (options[name] !== undefined)
      throw usageError(`--${name} is for a simulated machine`, `leave --${name} out, or use --target sim`)
  const { json = false, image } = options
  const clock = systemClock()
  const verifyBoot = options['verify-boot'] ?? false
  if (verifyBoot && !(request.target.startsWith('ssh:') && request.allow.includes('reboot')))
    throw usageError(
      '--verify-boot needs a machine behind SSH that may be rebooted',
      'use it with --target ssh://... and --allow reboot',
    )
  const carried = request.target.startsWith('ssh:') ? 'the image that its live system carries' : 'the rehearsal image'
  const does = `coreos-installer install, from ${image ?? carried}, with the Ignition config and ${
    (options['append-karg'] ?? []).length + (options['delete-karg'] ?? []).length
  } changed kernel arguments`
  // Checked before --plan too.
  if (!options['no-ignition-check']) readIgnition(inputs.ignition)
  const shown = await onlyShown(request, options, does, environment, clock)
  if (shown !== undefined) return shown
  return watchDeployment(environment, { clock, speed: 1, json, reportFile: options.report }, async (watching) => {
    const images = await makeCacheRequest(options, environment)
    const image = await imageNamed(options, environment)
    await using on = await openFor({ ...request, images }, environment, clock, json)
    return await runRealDeployment({ ...deploymentOf(options, inputs), ...image, ...watching, on, verifyBoot })
  })
}

function checkDeployOptions(options: DeployOptions): void {
  const { 'ironic-url': url, image } = options
  if (url === undefined) {
    for (const name of ['bmc-user', 'bmc-password'] as const)
      if (options[name] !== undefined)
        throw usageError(
          `--${name} is for --ironic-url: it is the account of the BMCs of the ironstage that runs there`,
          `leave --${name} out, or name that ironstage with --ironic-url`,
        )
    return
  }
  for (const name of ['hardware', 'disk-file', 'disk-size', 'overwrite', 'realistic', 'speed', 'steps'] as const)
    if (options[name] !== undefined)
      throw usageError(
        `--${name} cannot be used with --ironic-url: the machine is made by the ironstage at ${url}`,
        `leave --${name} out`,
      )
  if (image !== undefined && !/^(https?:\/\/|stream:)/.test(image))
    throw usageError(
      `the image file ${image} cannot be reached by the ironstage at ${url}`,
      'serve it over HTTP and give its URL',
    )
}

/** The target disk is the machine's first; a hardware file can set its size. */
async function readMachineOptions(options: DeployOptions): Promise<{ hardware?: MachineHardware; size: number }> {
  const { hardware: file, 'disk-size': diskSize } = options
  const hardware = file === undefined ? undefined : await readOneMachine(file)
  if (hardware?.disks?.length === 0)
    throw usageError(`the hardware file ${file} describes a machine without disks`, 'give it the disk to install to')
  const described = hardware?.disks?.[0]?.size
  if (described !== undefined && diskSize !== undefined)
    throw usageError('--disk-size and --hardware both say how large the first disk is', 'leave one of them out')
  return { ...defined({ hardware }), size: described ?? parseSize(diskSize ?? '10GiB') }
}

async function readConfig(
  { ignition: file = EXAMPLE_IGNITION, 'no-ignition-check': isUnchecked = false }: DeployOptions,
  environment: Environment,
): Promise<Uint8Array> {
  const [config] = await readInputs([file], environment)
  if (!isUnchecked) refuseButane(config!.name, config!.bytes)
  return config!.bytes
}
