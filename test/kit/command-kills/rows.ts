import { fileURLToPath } from 'node:url'
import { defined } from '../../../base/runtime/index.js'

const images = fileURLToPath(new URL('../../../images', import.meta.url))
const host = fileURLToPath(new URL('../../fixtures/baremetal-hosts/worker-0.yaml', import.meta.url))

/** Where a command that is killed works. */
export interface Ground {
  /** Path of a file or folder that is the command's to write. */
  out(name: string): string
  /** Path of a file that is there. */
  input(name: string): string
  /** A server that takes connections and never answers. */
  silent: string
  /** A server whose files arrive over seconds. */
  slow: string
}

export interface KilledCommand {
  argv(ground: Ground): string[]
  /** Standard input; none keeps it open and empty. */
  stdin?: string
  /** True if it ends by itself; else it serves or waits until it is ended. */
  ends: boolean
  /** The exit code of a command that ends; default 0. */
  code?: number
}

const CONFIG = '{"ignition":{"version":"3.4.0"}}'
const ISO = `${images}/coreos-live.iso`
const IMAGE = `${images}/coreos-metal.raw.xz`

const ends = (argv: KilledCommand['argv'], stdin?: string): KilledCommand => ({
  argv,
  ends: true,
  ...defined({ stdin }),
})
const lasts = (argv: KilledCommand['argv']): KilledCommand => ({ argv, ends: false })

const SLOW_STREAM_ARGS = ['--stream', 'STREAM', '--insecure', '--architecture', 'x86_64']
const fromSlow = (ground: Ground): string[] =>
  SLOW_STREAM_ARGS.map((word) => (word === 'STREAM' ? ground.input('stream.json') : word))
const newIso = (...words: string[]) => ends(({ out }) => ['iso', ...words, '-o', out('new.iso'), ISO], CONFIG)

/** Every command that does something, with arguments that keep it busy for a moment; by its words. */
export const KILLED_COMMANDS: Readonly<Record<string, KilledCommand>> = {
  up: lasts(({ out }) => ['up', '--port', '0', '--nodes', '2', '--state-dir', out('state')]),
  deploy: lasts(({ out }) => [
    'deploy',
    '--realistic',
    '--speed',
    '20',
    '--disk-file',
    out('disk.img'),
    '--overwrite',
    '--disk-size',
    '256MiB',
  ]),
  agent: lasts(({ silent }) => ['agent', '--ironic-url', silent]),
  fleet: lasts(({ out }) => [
    'fleet',
    '--count',
    '3',
    '--redfish-port',
    '0',
    '--state-dir',
    out('state'),
    '--hosts-out',
    out('nodes.json'),
  ]),
  record: lasts(({ silent, out }) => [
    'record',
    '--upstream',
    silent,
    '-o',
    out('recording.ndjson'),
    '--force',
    '--port',
    '0',
    '--agents',
    '0',
  ]),
  replay: lasts(({ silent, input }) => ['replay', input('recording.ndjson'), '--against', silent]),
  diff: ends(({ input }) => ['diff', input('recording.ndjson'), input('recording.ndjson')]),
  'ignition validate': lasts(() => ['ignition', 'validate', '-']),
  'ignition merge': lasts(() => ['ignition', 'merge', '-']),
  'ignition translate': lasts(() => ['ignition', 'translate', '-', '--spec', '3.4.0']),
  'ignition show': ends(() => ['ignition', 'show', `${images}/example.ign`]),
  'ignition agent-config': ends(() => [
    'ignition',
    'agent-config',
    '--base-url',
    'http://192.0.2.1:6385',
    '--agent-image',
    'registry.example.org/ipa',
  ]),
  'bmh explain': ends(() => ['bmh', 'explain', host]),
  'hardware import': lasts(() => ['hardware', 'import', '-']),
  'hardware export': lasts(({ silent }) => ['hardware', 'export', 'node-0', '--url', silent]),
  'images serve': lasts(() => [
    'images',
    'serve',
    '--live-iso',
    ISO,
    '--image-port',
    '0',
    '--base-url',
    'http://127.0.0.1:1',
  ]),
  'images make': ends(({ out }) => [
    'images',
    'make',
    '--version',
    '44.20260707.3.1',
    '--directory',
    out('made'),
    '--force',
  ]),
  chaos: ends(({ out }) => ['chaos', '--nodes', '1', '--duration', '2m', '--out', out('chaos')]),
  run: ends(({ input: fileOf, out }) => [
    'run',
    fileOf('hosts.yaml'),
    '--rehearse',
    '--restart',
    '--state-dir',
    out('run'),
  ]),
  // No run was begun there.
  'run attach': { ...ends(({ out }) => ['run', 'attach', 'none', '--state-dir', out('run')]), code: 2 },
  'run discover': lasts(({ silent }) => ['run', 'discover', new URL(silent).host]),
  'run init': ends(({ out }) => ['run', 'init', out('hosts.yaml')]),
  'rehearse upgrade': ends(() => ['rehearse', 'upgrade', 'agent-container']),
  'fault list': lasts(({ silent }) => ['fault', 'list', '--url', silent]),
  'fault add': lasts(({ silent }) => ['fault', 'add', '--effect', 'bmc-silent', '--url', silent]),
  'fault lift': lasts(({ silent }) => ['fault', 'lift', '--all', '--url', silent]),
  'clock show': lasts(({ silent }) => ['clock', 'show', '--url', silent]),
  'clock set': lasts(({ silent }) => ['clock', 'set', 'manual', '--url', silent]),
  'clock advance': lasts(({ silent }) => ['clock', 'advance', '31m', '--url', silent]),
  journal: lasts(({ silent }) => ['journal', '--follow', '--url', silent]),
  'iso customize': newIso('customize', '--dest-karg-append', 'a=b'),
  'iso ignition embed': newIso('ignition', 'embed'),
  'iso ignition show': ends(({ input: fileOf }) => ['iso', 'ignition', 'show', fileOf('embedded.iso')]),
  'iso ignition remove': newIso('ignition', 'remove'),
  'iso network embed': ends(({ input: fileOf, out }) => [
    'iso',
    'network',
    'embed',
    '-k',
    fileOf('eth0.nmconnection'),
    '-o',
    out('new.iso'),
    ISO,
  ]),
  'iso network extract': ends(({ input: fileOf, out }) => [
    'iso',
    'network',
    'extract',
    '-C',
    out('.'),
    fileOf('networked.iso'),
  ]),
  'iso network remove': newIso('network', 'remove'),
  'iso kargs modify': newIso('kargs', 'modify', '-a', 'c=d'),
  'iso kargs reset': newIso('kargs', 'reset'),
  'iso kargs show': ends(() => ['iso', 'kargs', 'show', ISO]),
  'iso extract pxe': ends(({ out }) => ['iso', 'extract', 'pxe', '-o', out('pxe'), ISO]),
  // The image in the package has no minimal one inside: the command reads it and says so.
  'iso extract minimal-iso': {
    ...ends(({ out }) => ['iso', 'extract', 'minimal-iso', ISO, out('minimal.iso')]),
    code: 1,
  },
  'iso reset': newIso('reset'),
  'pxe customize': ends(({ input: fileOf, out }) => [
    'pxe',
    'customize',
    '--dest-device',
    '/dev/sda',
    '-o',
    out('initrd.img'),
    fileOf('initrd.img'),
  ]),
  'pxe ignition wrap': lasts(({ out }) => ['pxe', 'ignition', 'wrap', '-o', out('wrapped.img')]),
  'pxe ignition unwrap': ends(({ input: fileOf }) => ['pxe', 'ignition', 'unwrap', fileOf('wrapped.img')]),
  'pxe network wrap': ends(({ input: fileOf, out }) => [
    'pxe',
    'network',
    'wrap',
    '-k',
    fileOf('eth0.nmconnection'),
    '-o',
    out('network.img'),
  ]),
  'pxe network unwrap': ends(({ input: fileOf, out }) => [
    'pxe',
    'network',
    'unwrap',
    '-C',
    out('.'),
    fileOf('network.img'),
  ]),
  'pxe kargs': ends(() => ['pxe', 'kargs', '--rootfs-url', 'http://192.0.2.1/rootfs.img']),
  'pxe ipxe': ends(() => [
    'pxe',
    'ipxe',
    '--rootfs-url',
    'http://192.0.2.1/rootfs',
    '--kernel-url',
    'http://192.0.2.1/kernel',
    '--initrd-url',
    'http://192.0.2.1/initrd',
  ]),
  'stream validate': ends(({ input: fileOf }) => ['stream', 'validate', fileOf('stream.json'), '--insecure']),
  'stream convert': ends(({ input: fileOf, out }) => [
    'stream',
    'convert',
    fileOf('meta.json'),
    '--to',
    'release',
    '--base-url',
    'https://example.org/builds',
    '--output',
    out('release.json'),
  ]),
  'stream lookup': lasts(({ silent }) => ['stream', 'lookup', 'stable', '--insecure', '--stream-base-url', silent]),
  'stream diff': lasts(({ silent, input: fileOf }) => [
    'stream',
    'diff',
    fileOf('stream.json'),
    'stable',
    '--insecure',
    '--stream-base-url',
    silent,
  ]),
  'stream print': ends(({ slow }) => ['stream', 'print', `${slow}/stream.json`, '--insecure']),
  'stream publish': ends(({ input: fileOf, out }) => [
    'stream',
    'publish',
    fileOf('stream.json'),
    out('shelf'),
    '--insecure',
  ]),
  'stream serve': lasts(({ input: fileOf }) => ['stream', 'serve', fileOf('.'), '--port', '0']),
  download: lasts((ground) => [
    'download',
    ...fromSlow(ground),
    '--platform',
    'metal',
    '--format',
    'raw.gz',
    '--directory',
    ground.out('.'),
  ]),
  'cache list': ends(({ out }) => ['cache', 'list', '--cache-dir', out('cache')]),
  'cache prune': ends(({ out }) => ['cache', 'prune', '--all', '--cache-dir', out('cache')]),
  'cache verify': ends(({ out }) => ['cache', 'verify', '--cache-dir', out('cache')]),
  // The image was fetched before, so it ends.
  'machine-os build': ends((ground) => ['machine-os', 'build', ground.out('machine-os'), ...fromSlow(ground)]),
  'machine-os copy-iso': ends(({ input: fileOf, out }) => [
    'machine-os',
    'copy-iso',
    out('iso'),
    '--source',
    fileOf('machine-os'),
  ]),
  'machine-os copy-pxe': ends(({ input: fileOf, out }) => [
    'machine-os',
    'copy-pxe',
    out('pxe-files'),
    '--source',
    fileOf('machine-os'),
  ]),
  'machine-os copy-metal': ends(({ input: fileOf, out }) => [
    'machine-os',
    'copy-metal',
    out('metal'),
    '--all',
    '--source',
    fileOf('machine-os'),
  ]),
  'machine-os verify': lasts(({ input: fileOf, silent }) => [
    'machine-os',
    'verify',
    fileOf('machine-os'),
    '--stream',
    'stable',
    '--insecure',
    '--stream-base-url',
    silent,
  ]),
  'boot-image generate': lasts(({ out, input: fileOf, silent }) => [
    'boot-image',
    'generate',
    fileOf('release'),
    'metal',
    '--stream',
    `${silent}/stream.json`,
    '--insecure',
    '--directory',
    out('boot-image'),
  ]),
  'boot-image info': ends(({ input: fileOf }) => [
    'boot-image',
    'info',
    fileOf('release'),
    '--base-url',
    'http://192.0.2.1/',
  ]),
  'release write': ends(({ input: fileOf, out }) => [
    'release',
    'write',
    `oci:${out('layout')}`,
    '--version',
    '4.15.0',
    '--stream',
    fileOf('stream.json'),
  ]),
  'release info': lasts(({ silent }) => ['release', 'info', `${new URL(silent).host}/release:4.15.0`, '--insecure']),
  'bmc list': ends(() => ['bmc', 'list']),
  'bmc show': ends(() => ['bmc', 'show', 'idrac9']),
  'bmc check': ends(({ input: fileOf }) => ['bmc', 'check', fileOf('bmc.yaml')]),
  'bmc import': ends(({ input: fileOf, out }) => ['bmc', 'import', fileOf('dump'), '--out', out('machine')]),
  'bmc dump': lasts(({ silent, out }) => ['bmc', 'dump', silent, '--bmc-password', 'secret', '--out', out('dump')]),
  'step list': ends(() => ['step', 'list']),
  'step show': ends(() => ['step', 'show', 'install_coreos']),
  'step run': ends(() => ['step', 'run', 'erase_devices_metadata', '--target', 'sim']),
  'step new': ends(({ out }) => ['step', 'new', 'wipe-nvme', '--dir', out('new-step')]),
  'state check': ends(({ input: fileOf }) => ['state', 'check', '--state-dir', fileOf('state')]),
  'state repair': ends(({ input: fileOf }) => ['state', 'repair', '--state-dir', fileOf('state')]),
  'state export': ends(({ input: fileOf }) => ['state', 'export', '--state-dir', fileOf('state')]),
  doctor: ends(() => ['doctor']),
  completion: ends(() => ['completion', 'bash']),
  openapi: ends(() => ['openapi']),
  errors: ends(() => ['errors']),
  'coreos-installer': ends(({ out }) => [
    'coreos-installer',
    'install',
    out('installed.img'),
    '--image-file',
    IMAGE,
    '--insecure',
  ]),
}
