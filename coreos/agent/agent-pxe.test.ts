import { expect, test } from 'vitest'
import { liveIpxeScript, pxeAppendParams } from './agent-pxe.js'

const rootfsUrl = 'http://192.0.2.1/rootfs.img'
const ignitionUrl = 'http://[2001:db8::1]/ironic-python-agent.ign'

test("arguments come after Ironic's own, each once, as ironic-image once wrote them", () => {
  expect(
    pxeAppendParams({ append: 'nofb nomodeset  ip=dhcp6', rootfsUrl, ignitionUrl, ipOptions: 'ip=dhcp6 rd.neednet=1' }),
  ).toBe(
    `nofb nomodeset ip=dhcp6 coreos.live.rootfs_url=${rootfsUrl} ignition.config.url=${ignitionUrl} ` +
      'ignition.firstboot ignition.platform.id=metal rd.neednet=1',
  )
})

test('a config in the initramfs needs no URL', () => {
  expect(pxeAppendParams({ rootfsUrl, ignition: true })).toBe(
    `coreos.live.rootfs_url=${rootfsUrl} ignition.firstboot ignition.platform.id=metal`,
  )
})

test('an iPXE script boots the same', () => {
  const script = liveIpxeScript({
    kernelUrl: 'http://h/vmlinuz',
    initramfsUrls: ['http://h/initrd.img'],
    append: 'quiet',
    rootfsUrl,
    ignitionUrl,
    ipOptions: 'ip=dhcp',
  })
  expect(script).toBe(
    [
      '#!ipxe',
      `kernel http://h/vmlinuz initrd=initrd quiet coreos.live.rootfs_url=${rootfsUrl} ` +
        `ignition.config.url=${ignitionUrl} ignition.firstboot ignition.platform.id=metal ip=dhcp`,
      'initrd --name initrd http://h/initrd.img',
      'boot',
      '',
    ].join('\n'),
  )
})

test.each([
  ['a line break', { append: 'a\nshell' }],
  ['one in IP options', { ipOptions: 'a\rshell' }],
  ['a URL that a boot loader would read', { rootfsUrl: 'http://h/${net0/mac}' }],
])('%s is refused', (_, options) => expect(() => pxeAppendParams(options)).toThrow())
