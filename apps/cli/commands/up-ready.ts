import type { ServedLab, StageMember } from '../../../lab/index.js'
import { imageLines } from './images-command.js'

/** Lines that say where Ironic is, and how clients get there. */
export function readyLines(
  served: ServedLab,
  {
    users,
    variables,
    nodes,
    hosts,
    uiUrl,
  }: { users: string | undefined; variables: Readonly<Record<string, string>> } & {
    nodes: string | null
    hosts: string | undefined
    uiUrl: string | null
  },
): string[] {
  const { url, authStrategy, caFile } = served
  const { elsewhere } = served.stage
  const machines = served.stage.machines.list().length
  const secret = authStrategy === 'http_basic'
  const exports = Object.entries(variables).map(([name, value]) => `    export ${name}=${value}`)
  const curl = ['curl -s', ...(secret ? ['-u USER'] : []), ...(caFile === null ? [] : [`--cacert ${caFile}`])].join(' ')
  const { member } = served.stage
  if (member?.role === 'conductor') return conductorLines(member, url)
  return [
    firstLine(served),
    ...(member ? [memberLine(member)] : []),
    ...(nodes === null ? [] : [nodes]),
    ...(hosts === undefined ? [] : [`Each BareMetalHost of ${hosts} gets a machine and a node.`]),
    ...(uiUrl === null ? [] : [`Its dashboard is at ${uiUrl}`]),
    '',
    '  for BareMetal Operator and the baremetal command:',
    ...exports,
    ...(secret ? [`    export OS_USERNAME=... OS_PASSWORD=...   one of ${users ?? 'the users'}`] : []),
    '  or in clouds.yaml:',
    '    clouds:',
    '      ironstage:',
    ...(secret
      ? ['        auth_type: http_basic', '        auth: {username: ..., password: ...}']
      : ['        auth_type: none']),
    ...(caFile === null ? [] : [`        cacert: ${caFile}`]),
    `        endpoint: ${url}`,
    `        baremetal_endpoint_override: ${url}`,
    '',
    ...liveImageLines(served, variables),
    ...(elsewhere ? elsewhereLines(url, elsewhere.bootUrl) : []),
    ...(!elsewhere && machines === 0 && nodes === null && hosts === undefined
      ? [
          '  machines: ironstage up --nodes 3, or at any time',
          `    ${curl} ${url}/_lab/nodes -H 'content-type: application/json' -d '{"count": 3}'`,
          '',
        ]
      : []),
    `  try: ${curl} -H 'X-OpenStack-Ironic-API-Version: latest' ${url}/v1/nodes`,
    '',
  ]
}

function firstLine({ url, stage }: ServedLab): string {
  if (stage.elsewhere) return `Ironic is ready at ${url}; its machines are elsewhere, behind the BMCs of their nodes.`
  const count = stage.machines.list().length
  return `Ironic is ready at ${url} with ${count} simulated ${count === 1 ? 'machine' : 'machines'}.`
}

const memberLine = ({ name, role, address, schema }: StageMember): string =>
  `It is ${name}, role ${role}, of the database ${address}, schema ${schema}.`

/** Lines of a process whose clients go to another. */
const conductorLines = (member: StageMember, url: string): string[] => [
  'The conductor is ready; clients go to a process of --role api or all.',
  memberLine(member),
  `Its journal and its faults are at ${url}/_lab.`,
]

/** Lines that say how machines of a fleet become nodes, and what boots by iPXE. */
const elsewhereLines = (url: string, bootUrl: string): string[] => [
  `  machines: ironstage fleet --count 3 --ironic-url ${url} --enroll`,
  `  with iPXE: --boot-interface ipxe --ipxe-url ${bootUrl}/boot.ipxe`,
  '',
]

function liveImageLines(
  { stage: { images } }: ServedLab,
  { IRONIC_USE_COREOS_IPA: byDefault }: Readonly<Record<string, string>>,
): string[] {
  if (!images) return []
  const lines = images.architectures.flatMap((each) => [
    ...imageLines(`driver_info of a node, ${each}`, images.urls(each)!),
    '',
  ])
  return [`  live images, which nodes boot ${byDefault === 'true' ? 'by default' : 'on request'}:`, ...lines]
}
