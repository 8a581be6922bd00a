import { isObject } from '../../base/runtime/index.js'
import { pythonRepr, type JsonObject } from '../../base/wire/index.js'
import { nodeWithHints } from '../hardware/node-with-hints.js'
import { readPartitions } from '../hardware/read-partitions.js'
import { rescanDevice } from '../hardware/rescan.js'
import type { CommandExit } from '../../targets/index.js'
import { chooseWritableRoot } from '../hardware/writable-root.js'
import { defineStep } from '../sdk/define-step.js'
import { CommandFailed, runCommand, runToEnd, type FinishedCommand } from '../sdk/run-command.js'
import { StepError, type StepContext } from '../sdk/step.js'
import { CONFIG_DRIVE_ARGUMENT, readConfigDrive, writeConfigDrive } from '../write-image/write-config-drive.js'

interface BootcArgs {
  image_source: string
  configdrive?: unknown
  /** Base64 of the secret. */
  oci_pull_secret?: string | null
}

/** Tells podman not to pivot_root, which a ramdisk cannot. */
const PODMAN_CONFIG = {
  path: '/etc/containers/containers.conf.d/01-ipa.conf',
  text: '[engine]\nno_pivot_root = true\n',
}

/** The container sees the processes, the images and the devices of the live system. */
const RUN_OPTIONS =
  '--log-level=debug run --rm --privileged --pid=host --pull=never -v /var/lib/containers:/var/lib/containers -v /dev:/dev'.split(
    ' ',
  )
const BOOTC_INSTALL = ['bootc', 'install', 'to-disk', '--wipe', '--skip-fetch-check']

/** MiB that bootc leaves free, for an EFI partition and a config drive. */
const MIB_BESIDE_ROOT = 768

/**
 * Has a bootable container install itself to the root device, with the commands of ironic-python-agent 13.0.0
 * (extensions/standby.py execute_bootc_install).
 *
 * Throws a StepError of IPA's types: ImageDownloadError, ImageWriteError, DeviceNotFound.
 */
export const executeBootcInstall = defineStep<BootcArgs>({
  name: 'execute_bootc_install',
  interface: 'deploy',
  on: ['deploy', 'service'],
  abortableOn: [],
  argsinfo: 'absent',
  args: {
    properties: {
      image_source: {
        type: 'string',
        pattern: '^oci://[^/-][^/]*/',
        description: 'The container, as oci://HOST/NAME.',
      },
      configdrive: CONFIG_DRIVE_ARGUMENT,
      oci_pull_secret: { type: ['string', 'null'], description: 'Secret for the registry, in base64.' },
    },
    required: ['image_source'],
  },
  run: installContainer,
})

async function installContainer(context: StepContext, args: BootcArgs): Promise<string> {
  const { target, progress, logger } = context
  const { image_source: source, oci_pull_secret: secret } = args
  // The agent's own words.
  if (context.refusesContainers)
    throw new StepError('The bootc deploy interface is administratively disable. Deployment cannot proceed.', {
      type: 'CommandExecutionError',
    })
  const drive = await readConfigDrive(context, args.configdrive)
  const device = await chooseWritableRoot({ ...context, node: await nodeWithHints(context) })
  await target.executor.files.write(PODMAN_CONFIG.path, Buffer.from(PODMAN_CONFIG.text), { mode: 0o644 })
  const container = source.replace(/^oci:\/\//, '')
  progress.stage(`pulling ${container}`)
  await withSecretFile(context, container, secret, (file) => pull(context, { container, file }))
  progress.stage(`installing ${container} to ${device.name}`)
  await runBootc(context, { source, container, device })
  await rescanDevice(target, device.name, logger)
  if ((await readPartitions(target, device.name)).partitions.length === 0)
    throw new StepError(`No partitions found on the device ${device.name} after writing the image.`, {
      type: 'DeploymentError',
    })
  if (drive) {
    progress.stage('writing the config drive')
    await writeConfigDrive(context, device.name, drive)
    await rescanDevice(target, device.name, logger)
  }
  return `Container image (${source}) written to device ${device.name}`
}

/** The secret is in a file for the pull alone: the container that runs afterwards sees the whole system. */
async function withSecretFile(
  { target, node }: StepContext,
  container: string,
  secret: string | null | undefined,
  use: (file: string | undefined) => Promise<void>,
): Promise<void> {
  if (!secret) return use(undefined)
  const file = `/tmp/ipa-container-auth-${String(node['uuid'])}.json`
  const [host = ''] = container.split('/')
  const auths = { [host]: { auth: Buffer.from(secret, 'base64').toString() } }
  try {
    await target.executor.files.write(file, Buffer.from(JSON.stringify({ auths })), { mode: 0o600 })
    await use(file)
  } finally {
    await target.executor.files.remove(file)
  }
}

interface Pull {
  container: string
  file: string | undefined
}

async function pull({ target, progress, signal }: StepContext, { container, file }: Pull): Promise<void> {
  const options = file === undefined ? [] : [`--authfile=${file}`]
  const argv: [string, ...string[]] = ['podman', 'pull', ...options, '--retry-delay=5s', container]
  try {
    await runCommand(target.executor, argv, {
      effect: 'writes',
      signal,
      onLine: (line) => progress.line(line),
    })
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    throw downloadFailed(container, `Failed to pull container image: ${executionError(argv, error.finished)}`)
  }
}

/** A failed command in the words of oslo.concurrency (processutils.py ProcessExecutionError). */
function executionError(argv: readonly string[], { exit, stdout, stderr }: FinishedCommand): string {
  const code = exit.kind === 'exited' ? String(exit.code) : '-'
  return [
    'Unexpected error while running command.',
    `Command: ${argv.join(' ')}`,
    `Exit code: ${code}`,
    `Stdout: ${pythonRepr(stdout)}`,
    `Stderr: ${pythonRepr(stderr)}`,
  ].join('\n')
}

interface Installation {
  source: string
  container: string
  device: { readonly name: string; readonly size: number }
}

async function runBootc(context: StepContext, { source, container, device }: Installation): Promise<void> {
  const { target, node, progress, signal } = context
  const { bootc_authorized_keys: keys, bootc_tpm2_luks: encrypted } = instanceOf(node)
  const keyFile = typeof keys === 'string' && keys ? await writeKeys(context, keys) : undefined
  const isSelinux = await hasSelinux(context)
  const argv: [string, ...string[]] = [
    'podman',
    ...RUN_OPTIONS,
    ...(keyFile === undefined ? [] : ['-v', '/tmp:/tmp']),
    ...(isSelinux ? ['--security-opt', 'label=type:unconfined_t'] : []),
    container,
    ...BOOTC_INSTALL,
    `--root-size=${Math.floor(device.size / 2 ** 20) - MIB_BESIDE_ROOT}M`,
    ...(encrypted ? ['--block-setup=tpm2-luks'] : []),
    ...(keyFile === undefined ? [] : [`--root-ssh-authorized-keys=${keyFile}`]),
    ...(isSelinux ? [] : ['--disable-selinux']),
    device.name,
  ]
  const { exit, stdout, stderr } = await runToEnd(target.executor, argv, {
    effect: 'writes',
    signal,
    onLine: (line) => progress.line(line),
  })
  if (exit.kind !== 'exited' || exit.code !== 0)
    throw new StepError(
      `Writing image to device ${device.name} failed with ${describeExit(exit)}. ` +
        `stdout: ${stdout}. stderr: ${stderr}`,
      { type: 'ImageWriteError' },
    )
  if ([stdout, stderr].some((output) => output.includes('executable file `bootc` not found')))
    throw downloadFailed(source, 'Container does not contain the required bootc binary and thus cannot be deployed.')
}

/** The node's instance as Ironic sends it with a step. */
const instanceOf = ({ instance_info }: Readonly<JsonObject>): JsonObject =>
  isObject(instance_info) ? instance_info : {}

/** The container sees the file, as it sees the whole of /tmp then. */
async function writeKeys({ target, node }: StepContext, keys: string): Promise<string> {
  const file = `/tmp/ipa-authorized-keys-${String(node['uuid'])}`
  await target.executor.files.write(file, Buffer.from(keys), { mode: 0o600 })
  return file
}

async function hasSelinux({ target, signal }: StepContext): Promise<boolean> {
  const { stdout } = await runToEnd(target.executor, ['getenforce'], { effect: 'reads', signal })
  return /^(?:Enforcing|Permissive)/.test(stdout)
}

const downloadFailed = (image: string, why: string): StepError =>
  new StepError(`Download of image ${image} failed: ${why}`, { type: 'ImageDownloadError' })

/** IPA's words for an exit code; a program that a signal ends has the signal's number there. */
function describeExit(exit: CommandExit): string {
  if (exit.kind === 'exited') return `exit code ${exit.code}`
  return exit.kind === 'signalled' ? `signal ${exit.signal}` : `an unknown exit code: ${exit.why}`
}
