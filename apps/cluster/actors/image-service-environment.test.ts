import { expect, test } from 'vitest'
import { imageServiceEnvironment, imagesInShared } from './image-service-environment.js'

const names = (version: string | undefined): string[] =>
  Object.keys(imageServiceEnvironment({ agentImage: 'agent', ironicUrl: 'https://192.0.2.1:6385', version })).sort()

const FIRST = ['DEPLOY_INITRD', 'DEPLOY_ISO', 'IRONIC_AGENT_IMAGE', 'IRONIC_BASE_URL', 'REGISTRIES_CONF_PATH']

test.each([
  [undefined, []],
  ['4.10.3', []],
  ['4.17.0', []],
  ['4.18.0', ['CA_BUNDLE']],
  ['4.22.0-rc.1', ['CA_BUNDLE', 'DEPLOY_KERNEL', 'IRONIC_ROOTFS_URL']],
  ['4.23.0', ['CA_BUNDLE', 'DEPLOY_KERNEL', 'IMAGE_SHARED_DIR', 'IRONIC_ROOTFS_URL']],
  ['5.0.0', ['CA_BUNDLE', 'DEPLOY_KERNEL', 'IMAGE_SHARED_DIR', 'IRONIC_ROOTFS_URL']],
])('the image service of %s has the variables of its release', (version, more) => {
  expect(names(version)).toEqual([...FIRST, ...more].sort())
})

test('the settings of the cluster are in them, as its release has them', () => {
  const settings = { agentImage: 'agent', ironicUrl: 'https://192.0.2.1:6385' }
  const sshKey = 'ssh-ed25519 AAAA me'
  const proxy = { httpProxy: 'http://proxy:1', httpsProxy: 'http://proxy:2', noProxy: '.lab' }
  const site = (serviceNetwork: string[]) => ({
    install: { sshKey: `${sshKey}\n`, proxy, networking: { serviceNetwork } },
    ntpServers: ['a.lab', 'b.lab'],
  })
  const all = imageServiceEnvironment({ ...settings, version: '4.18.0', site: site(['172.30.0.0/16', 'fd02::/112']) })
  expect(all).toMatchObject({
    ADDITIONAL_NTP_SERVERS: 'a.lab,b.lab',
    IP_OPTIONS: 'ip=dhcp,dhcp6',
    IRONIC_RAMDISK_SSH_KEY: sshKey,
    HTTP_PROXY: 'http://proxy:1',
    HTTPS_PROXY: 'http://proxy:2',
    NO_PROXY: '.lab,192.0.2.1',
  })
  const older = imageServiceEnvironment({ ...settings, version: '4.17.0', site: site(['fd02::/112']) })
  expect(older).toMatchObject({ IP_OPTIONS: 'ip=dhcp6' })
  expect(older).not.toHaveProperty('ADDITIONAL_NTP_SERVERS')
  const plain = imageServiceEnvironment({ ...settings, version: '4.17.0', site: { install: {} } })
  expect(plain).toMatchObject({ IP_OPTIONS: 'ip=dhcp', IRONIC_RAMDISK_SSH_KEY: '' })
  expect(plain).not.toHaveProperty('HTTP_PROXY')
})

test('the address is in two of them, and in none while Ironic has none', () => {
  const settings = { agentImage: 'agent', version: '5.0.0' }
  expect(imageServiceEnvironment({ ...settings, ironicUrl: 'http://[fd00::1]:6385' })).toMatchObject({
    IRONIC_BASE_URL: 'http://[fd00::1]:6385',
    IRONIC_ROOTFS_URL: 'http://[fd00::1]:6180/images/ironic-python-agent.rootfs',
  })
  expect(imageServiceEnvironment({ ...settings, ironicUrl: '' })).toMatchObject({
    IRONIC_BASE_URL: '',
    IRONIC_ROOTFS_URL: '',
  })
})

test.each([
  [{}, ''],
  [{ DEPLOY_ISO: '/shared/html/images/ironic-python-agent.iso' }, ''],
  [{ DEPLOY_ISO: '/shared/html/images/a/x.iso' }, 'a'],
  [{ DEPLOY_ISO: '/shared/html/images/a/x.iso', IMAGE_SHARED_DIR: '/shared/html/images/b' }, 'b'],
])('its images are in the folder that %j names', (variables, folder) => {
  const env = Object.entries(variables).map(([name, value]) => ({ name, value }))
  expect(imagesInShared({ name: 'machine-image-customization-controller', image: 'x', env })).toBe(folder)
})
