import { DURATION_PATTERN, DURATION_RANGE_PATTERN } from '../../../../base/runtime/index.js'
import { FLAG, OPTION_TEXT_SCHEMA, type CommandOptionShape } from './option-shape.js'

const PORT = { type: 'integer', minimum: 0, maximum: 65535 } as const

/** Options of `ironstage fleet`. */
export const FLEET_SHAPES = {
  count: {
    value: 'N',
    example: '10',
    description: 'machines to start with; a state folder may have more (default: 1)',
    schema: { type: 'integer', minimum: 0, maximum: 10_000 },
  },
  systems: {
    value: 'FILE',
    example: 'nodes.json',
    description:
      'machines from a JSON list in the format of SUSHY_EMULATOR_FAKE_SYSTEMS (sushy-tools), with their uuids and MAC addresses',
    schema: OPTION_TEXT_SCHEMA,
  },
  'name-prefix': {
    value: 'PREFIX',
    example: 'rack-a-',
    accepted: 'the beginning of names: small letters, digits and -, with a letter or - at its end',
    description:
      'beginning of the names of the machines, also for their addresses and serial numbers: one for each fleet of an Ironic (default: machine-)',
    schema: { type: 'string', pattern: '^([a-z0-9][a-z0-9-]{0,38})?[a-z]$|^[a-z0-9][a-z0-9-]{0,38}-$' },
  },
  'redfish-host': {
    value: 'ADDRESS',
    description: 'address on which BMCs and agents listen (default: 127.0.0.1)',
    schema: OPTION_TEXT_SCHEMA,
  },
  user: { value: 'NAME', description: 'user of the BMCs (default: admin)', schema: OPTION_TEXT_SCHEMA },
  'password-file': {
    value: 'FILE',
    description:
      'file with the password of the BMCs (default: a random password, which --hosts-out writes to its file)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'agent-port': {
    value: 'PORT',
    description: 'port of the agents (default: a free one, kept in the state folder)',
    schema: PORT,
  },
  advertise: {
    value: 'HOST',
    description: 'host at which Ironic reaches BMCs and agents (default: their listen address)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'control-port': {
    value: 'PORT',
    description: 'port of the control API, on 127.0.0.1 (default: a free one)',
    schema: PORT,
  },
  'notifier-port': {
    value: 'PORT',
    example: '9999',
    description: "receive sushy-tools' power notifications on this port, as fake-ipa does (default: none)",
    schema: PORT,
  },
  disks: {
    value: 'KIND',
    example: 'file',
    description:
      'file: bytes of disks in the state folder; described: structures in memory, for thousands of machines (default: file with --state-dir)',
    schema: { type: 'string', enum: ['file', 'described'] },
  },
  enroll: {
    description: 'enroll the machines that the Ironic of --ironic-url lacks',
    schema: FLAG,
  },
  'node-driver': {
    value: 'TYPE',
    example: 'ipmi',
    description: 'hardware type of the nodes of --enroll and --hosts-out: redfish or ipmi (default: redfish)',
    schema: { type: 'string', enum: ['redfish', 'ipmi'] },
  },
  'boot-interface': {
    value: 'NAME',
    example: 'redfish-virtual-media',
    description:
      'boot interface of the nodes of --enroll and --hosts-out (default: redfish-virtual-media; ipxe for ipmi)',
    schema: { type: 'string', pattern: '^[a-z0-9-]+$' },
  },
  'driver-info': {
    value: 'NAME=VALUE',
    example: 'deploy_kernel=http://192.0.2.1/kernel',
    description: 'driver_info of the nodes of --enroll and of a .json file, as in deploy_kernel=URL; may be repeated',
    schema: { type: 'array', items: { type: 'string', pattern: '^[A-Za-z0-9_]+=' } },
  },
  'hosts-out': {
    value: 'FILE',
    example: 'nodes.json',
    description:
      'write the machines with their passwords: .json for baremetal create, .yaml of BareMetalHosts, or .csv',
    schema: OPTION_TEXT_SCHEMA,
  },
  'ipxe-url': {
    value: 'URL',
    example: 'http://192.0.2.1:8080/boot.ipxe',
    description:
      'URL of the boot script for network boots, or of a folder of scripts, which ends with / (default: none)',
    schema: { type: 'string', pattern: '^https?://.*' },
  },
  'media-ca': {
    value: 'FILE',
    description: 'certificate authorities of servers of boot media, PEM (default: certificates are not verified)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'boot-time': {
    value: 'TIME',
    example: '60s..240s',
    description: 'boot time of a ramdisk, or a range for random times, as in 60s..240s (default: 5s)',
    schema: { type: 'string', pattern: DURATION_RANGE_PATTERN },
  },
  'disk-time': {
    value: 'TIME',
    example: '90s',
    description: 'boot time from disk (default: none)',
    schema: { type: 'string', pattern: DURATION_PATTERN },
  },
  'power-time': {
    value: 'TIME',
    example: '3s',
    description: 'time that a BMC takes to change the power (default: none)',
    schema: { type: 'string', pattern: DURATION_PATTERN },
  },
} as const satisfies Record<string, CommandOptionShape>
