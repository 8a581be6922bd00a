import { expect, test } from 'vitest'
import type { RunningCommand, Target, TargetCommand } from '../../targets/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { stepMachine, testDisk } from '../../test/kit/step-machine.js'
import { executeBootcInstall } from './execute-bootc-install.js'

interface Podman {
  /** Exit code and words of `podman pull`, and of `podman run`. */
  pull?: { code: number; stderr: string }
  run?: { code?: number; stdout?: string; stderr?: string; leavesDiskEmpty?: boolean }
  selinux?: string
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
async function machineWithPodman({ pull = { code: 0, stderr: '' }, run = {}, selinux }: Podman = {}) {
  const scene = await stepMachine([testDisk('sda', 20)])
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

const RUN =
  'podman --log-level=debug run --rm --privileged --pid=host --pull=never -v /var/lib/containers:/var/lib/containers -v /dev:/dev'
const BOOTC = 'registry.example:5000/os:1 bootc install to-disk --wipe --skip-fetch-check --root-size=19712M'

test('the container is pulled, and installs itself to the root device', async () => {
  await using machine = await machineWithPodman()
  expect(await machine.install()).toBe('Container image (oci://registry.example:5000/os:1) written to device /dev/sda')
  expect(machine.asked).toEqual([
    'podman pull --retry-delay=5s registry.example:5000/os:1',
    `${RUN} ${BOOTC} --disable-selinux /dev/sda`,
  ])
  expect(await machine.scene.read('/etc/containers/containers.conf.d/01-ipa.conf')).toBe(
    '[engine]\nno_pivot_root = true\n',
  )
})

test('keys, encryption and SELinux are options of bootc and podman', async () => {
  await using machine = await machineWithPodman({ selinux: 'Enforcing\n' })
  const instance_info = { bootc_authorized_keys: 'ssh-ed25519 AAAA me', bootc_tpm2_luks: true }
  await machine.install({}, { instance_info })
  const keys = '/tmp/ipa-authorized-keys-n1'
  expect(machine.asked[1]).toBe(
    `${RUN} -v /tmp:/tmp --security-opt label=type:unconfined_t ${BOOTC} --block-setup=tpm2-luks --root-ssh-authorized-keys=${keys} /dev/sda`,
  )
  expect(await machine.scene.read(keys)).toBe('ssh-ed25519 AAAA me')
})

test('the secret is in a file while podman pulls, and gone before the container runs', async () => {
  const secret = Buffer.from('se cret').toString('base64')
  await using machine = await machineWithPodman()
  await machine.install({ oci_pull_secret: secret })
  expect(machine.asked[0]).toBe(
    'podman pull --authfile=/tmp/ipa-container-auth-n1.json --retry-delay=5s registry.example:5000/os:1',
  )
  expect(machine.asked[1]).not.toContain('authfile')
  expect(machine.secrets).toEqual(['{"auths":{"registry.example:5000":{"auth":"se cret"}}}'])
  await expect(machine.scene.read('/tmp/ipa-container-auth-n1.json')).rejects.toThrow('ENOENT')

  await using refused = await machineWithPodman({ pull: { code: 125, stderr: 'Error: unauthorized\n' } })
  await expect(refused.install({ oci_pull_secret: secret })).rejects.toMatchObject({
    type: 'ImageDownloadError',
    details:
      'Download of image oci://registry.example:5000/os:1 failed: Failed to pull container image: Error: unauthorized',
  })
  await expect(refused.scene.read('/tmp/ipa-container-auth-n1.json')).rejects.toThrow('ENOENT')
})

test.each<[string, Podman['run'] & object, object]>([
  [
    'that fails',
    { code: 1, stdout: 'Installing', stderr: 'no space' },
    {
      type: 'ImageWriteError',
      details: 'Writing image to device /dev/sda failed with exit code 1. stdout: Installing. stderr: no space',
    },
  ],
  [
    'without bootc',
    { stdout: 'crun: executable file `bootc` not found in $PATH' },
    {
      type: 'ImageDownloadError',
      details: expect.stringContaining('Container does not contain the required bootc binary') as string,
    },
  ],
  [
    'that writes nothing',
    { leavesDiskEmpty: true },
    { type: 'DeploymentError', details: 'No partitions found on the device /dev/sda after writing the image.' },
  ],
])('a container %s fails the step with the words of the agent', async (_, run, failure) => {
  await using machine = await machineWithPodman({ run })
  await expect(machine.install()).rejects.toMatchObject(failure)
})

test.each(['https://registry.example/os', 'oci://', 'oci://--privileged/x'])('%s is refused', async (image_source) => {
  await using machine = await machineWithPodman()
  await expect(machine.install({ image_source })).rejects.toThrow(/image_source/)
  expect(machine.asked).toEqual([])
})
