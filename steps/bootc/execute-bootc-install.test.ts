import { expect, test } from 'vitest'
import { machineWithPodman, type Podman } from '../../test/kit/podman-machine.js'

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
    details: [
      'Download of image registry.example:5000/os:1 failed: Failed to pull container image: Unexpected error while running command.',
      'Command: podman pull --authfile=/tmp/ipa-container-auth-n1.json --retry-delay=5s registry.example:5000/os:1',
      'Exit code: 125',
      "Stdout: ''",
      "Stderr: 'Error: unauthorized\\n'",
    ].join('\n'),
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
