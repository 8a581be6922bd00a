import { RELEASE_WORDS } from '../value-words.js'
import { FLAG, OPTION_TEXT_SCHEMA, OPTION_TEXTS_SCHEMA, type CommandOptionShape } from './option-shape.js'

/** Options of the API server and its simulated machines that other commands have too. */
export const SERVER_SHAPES = {
  host: {
    value: 'ADDRESS',
    description: 'address to listen on (default: 127.0.0.1)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'allowed-host': {
    value: 'NAME',
    example: 'host.docker.internal',
    description:
      'name of this host by which clients may call, besides localhost and its own; may be repeated (default on 127.0.0.1: no other name)',
    schema: OPTION_TEXTS_SCHEMA,
  },
  port: {
    value: 'PORT',
    example: '6385',
    description: 'port of the Ironic API; 0 picks a free one (default: 6385)',
    schema: { type: 'integer', minimum: 0, maximum: 65535 },
  },
  nodes: {
    value: 'N',
    example: '3',
    description: 'simulated machines to start with, each with a node in enroll and its ports (default: 0)',
    schema: { type: 'integer', minimum: 0, maximum: 10_000 },
  },
  'redfish-port': {
    value: 'PORT',
    example: '8000',
    description: 'serve the BMCs of the machines over Redfish on this port of 127.0.0.1; 0 picks a free one',
    schema: { type: 'integer', minimum: 0, maximum: 65535 },
  },
  'ipmi-port': {
    value: 'PORT',
    example: '6230',
    description:
      'serve the BMCs of the machines over IPMI: machine-1 on this UDP port, the next machines on the ports after it; 0 picks free ones',
    schema: { type: 'integer', minimum: 0, maximum: 65535 },
  },
  'ironic-release': {
    value: 'RELEASE',
    description: `Ironic release to behave as: ${RELEASE_WORDS.join(', ')} (default: master)`,
    schema: { type: 'string', enum: [...RELEASE_WORDS] },
  },
  tls: {
    description: 'serve HTTPS; creates a certificate unless --tls-cert names one',
    schema: FLAG,
  },
  'tls-cert': { value: 'FILE', description: 'certificate for --tls, PEM', schema: OPTION_TEXT_SCHEMA },
  'tls-key': { value: 'FILE', description: 'private key of --tls-cert, PEM', schema: OPTION_TEXT_SCHEMA },
  'bmc-user': { value: 'NAME', description: 'user of the BMCs (default: admin)', schema: OPTION_TEXT_SCHEMA },
  'bmc-password': {
    value: 'PASSWORD',
    description:
      'password of new BMCs; BMCs in a state folder keep theirs (default: the password in the first node of each BMC)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'bmc-password-file': {
    value: 'FILE',
    description: 'file with the password of the BMCs; other users can read a password on the command line',
    schema: OPTION_TEXT_SCHEMA,
  },
  'discover-port': {
    flag: 'port',
    value: 'PORT',
    example: '8443',
    description: 'port to try at addresses without a port; may be repeated (default: 443, 80 and 8000)',
    schema: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 65535 } },
  },
  'state-dir': {
    value: 'DIR',
    description: 'keep nodes, machines and disks in this folder (default: nothing outlives the command)',
    schema: OPTION_TEXT_SCHEMA,
  },
  secrets: { description: 'print passwords, tokens and Ignition configs too', schema: FLAG },
  speed: {
    value: 'X',
    example: '60',
    description: 'run the clock X times as fast (default: 1)',
    schema: { type: 'number', exclusiveMinimum: 0, maximum: 100_000 },
  },
  open: {
    description: 'open the dashboard in a browser: the program in BROWSER, or that of the desktop',
    schema: FLAG,
  },
  'no-ui': { description: 'serve no dashboard (default: at /_lab/ui of the printed URL)', schema: FLAG },
  realistic: {
    description: 'use the delays of a real agent and real hardware (default: no delays)',
    schema: FLAG,
  },
  'stop-with-stdin': {
    description: 'stop when standard input closes, for example when the parent process exits',
    schema: FLAG,
  },
  json: { description: 'print one JSON object per line, for programs', schema: FLAG },
} as const satisfies Record<string, CommandOptionShape>
