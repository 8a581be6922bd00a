import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'
import { isoImage, LIVE_KARGS, liveFiles, liveInitramfs } from '../kit/images/live-iso.js'

const CONFIG = '{"ignition":{"version":"3.4.0"},"passwd":{}}'

async function scene() {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-live-'))
  const at = (name: string) => join(folder, name)
  const pristine = isoImage(liveFiles())
  await writeFile(at('x.iso'), pristine)
  await writeFile(at('a.ign'), CONFIG)
  await writeFile(at('eth0.nmconnection'), '[connection]\nid=eth0\n')
  await writeFile(at('initrd.img'), liveInitramfs())
  const run = async (line: string, stdin = '', variables: Record<string, string> = {}) => {
    // Names with a dot are files of the folder.
    const argv = line.split(' ').map((word) => (/^[a-z0-9]+\.[a-z]+$/.test(word) ? at(word) : word))
    const started = command(argv, { stdin, variables })
    const code = await started.ended
    const { stdout, stderr } = started
    return { code, stdout: stdout.replaceAll(folder, ''), stderr: stderr.replaceAll(folder, '') }
  }
  return { run, at, pristine }
}
const fine = (stdout = '') => ({ code: 0, stdout, stderr: '' })
const fails = (stderr: string) => ({ code: 1, stdout: '', stderr: `Error: ${stderr}\n` })

test('iso ignition: embedded, shown, replaced by force only, removed without a trace', async () => {
  const { run, at, pristine } = await scene()
  expect(await run('iso ignition show x.iso')).toEqual(fails('No embedded Ignition config.'))
  expect(await run('iso ignition embed -i a.ign x.iso')).toEqual(fine())
  expect(await run('iso ignition show x.iso')).toEqual(fine(CONFIG))
  expect(await run('iso ignition embed x.iso', '{}')).toEqual(
    fails('This ISO image already has an embedded Ignition config; use -f to force.'),
  )
  expect(await run('iso ignition embed -f x.iso', '{}')).toEqual(fine())
  expect(await run('iso ignition show x.iso')).toEqual(fine('{}'))
  expect(await run('iso ignition remove -o y.iso x.iso')).toEqual(fine())
  expect((await readFile(at('y.iso'))).equals(pristine)).toBe(true)
  expect(await run('iso ignition remove -o y.iso x.iso')).toEqual(
    fails('persisting output file to /y.iso\n\nCaused by:\n    File exists (os error 17)'),
  )
  expect(await run('iso ignition show nosuch.iso')).toEqual(
    fails('opening /nosuch.iso\n\nCaused by:\n    No such file or directory (os error 2)'),
  )
})

test('customize takes network states where nmstate is at hand, and says so where it is not', async () => {
  const { run, at } = await scene()
  const folder = at('bin')
  await mkdir(folder)
  // As the program prints it: pairs of a name and a keyfile.
  const script = `#!/bin/sh
test "$1" = gc || exit 9
grep -q interfaces "$2" || { echo "invalid state" >&2; exit 1; }
printf -- '---\\nNetworkManager:\\n- - eth7.nmconnection\\n  - |\\n    [connection]\\n    id=eth7\\n'
`
  await writeFile(join(folder, 'nmstatectl'), script, { mode: 0o755 })
  await writeFile(at('net.yaml'), 'interfaces: []\n')
  await writeFile(at('bad.yaml'), 'nothing\n')
  const there = { PATH: `${folder}:/usr/bin:/bin` }
  const customize = 'iso customize --network-nmstate'
  expect(await run(`${customize} net.yaml -o z.iso x.iso`, '', there)).toEqual(fine())
  expect(await run('iso network extract z.iso')).toEqual(
    fine('########## eth7.nmconnection ##########\n[connection]\nid=eth7\n'),
  )
  expect(await run(`${customize} net.yaml --network-nmstate net.yaml x.iso`, '', there)).toEqual(
    fails('config already specifies keyfile etc/coreos-firstboot-network/eth7.nmconnection'),
  )
  const caused = (what: string, cause: string) => fails(`${what}\n\nCaused by:\n    ${cause}`)
  expect(await run(`${customize} no.yaml x.iso`, '', there)).toEqual(
    caused('opening nmstate file', 'No such file or directory (os error 2)'),
  )
  expect(await run(`${customize} bad.yaml x.iso`, '', there)).toEqual(
    caused('generating configuration from nmstate', 'invalid state'),
  )
  expect((await run(`${customize} net.yaml x.iso`, '', { PATH: at('nowhere') })).stderr).toMatch(
    /^Error: generating configuration from nmstate\n\nCaused by:\n {4}there is no nmstatectl on this computer; .*--network-keyfile\n$/,
  )
})

test('iso network, kargs and reset', async () => {
  const { run, at, pristine } = await scene()
  expect(await run(`iso network embed -k ${at('eth0.nmconnection')} x.iso`)).toEqual(fine())
  expect(await run('iso network extract x.iso')).toEqual(
    fine('########## eth0.nmconnection ##########\n[connection]\nid=eth0\n'),
  )
  expect(await run('iso kargs modify -a foo=bar -d mitigations=auto,nosmt -r foo=bar=baz x.iso')).toEqual(fine())
  const remaining = LIVE_KARGS.replace('mitigations=auto,nosmt ', '')
  expect(await run('iso kargs show x.iso')).toEqual(fine(`${remaining} foo=baz\n`))
  expect(await run('iso kargs show --default x.iso')).toEqual(fine(`${LIVE_KARGS}\n`))
  expect(await run('iso kargs reset x.iso')).toEqual(fine())
  expect(await run('iso network remove x.iso')).toEqual(fine())
  expect((await readFile(at('x.iso'))).equals(pristine)).toBe(true)
  await run('iso customize --live-karg-append q --live-ignition a.ign x.iso')
  expect(await run('iso reset x.iso')).toEqual(fine())
  expect((await readFile(at('x.iso'))).equals(pristine)).toBe(true)
})

test('iso customize says what the medium will do, and does it once', async () => {
  const { run } = await scene()
  expect(await run('iso customize --dest-device /dev/sda --dest-ignition a.ign -o y.iso x.iso')).toEqual({
    ...fine(),
    stderr: 'Boot media will automatically install to /dev/sda without confirmation.\n',
  })
  expect(JSON.parse((await run('iso ignition show y.iso')).stdout)).toMatchObject({ ignition: { version: '3.3.0' } })
  expect(await run('iso customize y.iso')).toEqual(fails('This ISO image is already customized; use -f to force.'))
  expect(await run('iso customize -f y.iso')).toEqual(fine())
  expect(await run('iso ignition show y.iso')).toEqual(fails('No embedded Ignition config.'))
})

test('iso extract pxe', async () => {
  const { run, at } = await scene()
  const found = ['/p/x-initrd.img', '/p/x-rootfs.img', '/p/x-vmlinuz']
  expect(await run(`iso extract pxe -o ${at('p')} x.iso`)).toEqual(fine(`${found.join('\n')}\n`))
  expect((await readFile(at('p/x-vmlinuz'))).equals(liveFiles()['images/pxeboot/vmlinuz']!)).toBe(true)
})

test('pxe: wrapped configs are unwrapped, an initramfs is customised, and boot loaders are told', async () => {
  const { run } = await scene()
  expect(await run('pxe ignition wrap -i a.ign -o w.img')).toEqual(fine())
  expect(await run('pxe ignition unwrap w.img')).toEqual(fine(CONFIG))
  expect(await run('pxe network unwrap w.img')).toEqual(fails('No embedded network settings.'))
  expect(await run('pxe ignition unwrap a.ign')).toEqual(
    fails('reading CPIO entry\n\nCaused by:\n    Invalid magic number'),
  )
  expect(await run('pxe customize --live-ignition a.ign -o c.img initrd.img')).toEqual({
    ...fine(),
    stderr: 'PXE configuration must include kernel arguments:\n\tignition.firstboot ignition.platform.id=metal\n',
  })
  expect(await run('pxe customize -o d.img c.img')).toEqual(fails('input is already customized'))
  expect(await run('pxe kargs --ignition --append nofb --ip-options ip=dhcp6')).toEqual(
    fine('nofb ignition.firstboot ignition.platform.id=metal ip=dhcp6\n'),
  )
  expect(await run('pxe kargs --rootfs-url http://h/r --ignition')).toEqual(
    fine('coreos.live.rootfs_url=http://h/r ignition.firstboot ignition.platform.id=metal\n'),
  )
  expect((await run('pxe ipxe --kernel-url http://h/k --initrd-url http://h/i --append quiet')).stdout).toBe(
    '#!ipxe\nkernel http://h/k initrd=initrd quiet\ninitrd --name initrd http://h/i\nboot\n',
  )
})

test.each([
  'iso ignition embed',
  'iso network embed x.iso',
  'iso bogus',
  'pxe customize initrd.img',
  'iso reset --bog x.iso',
])('wrong usage ends with 2: %s', async (line) => {
  const { run } = await scene()
  expect(await run(line)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^ironstage: .* \(ironstage .*\)\n {2}try: ironstage .* --help\n$/) as string,
  })
})
