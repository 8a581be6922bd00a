import { sizeText, wrapWords } from '../../../base/runtime/index.js'
import { STAGES, type DeploymentReport } from '../../runs/index.js'

/** The report as a person reads it. */
export function reportText(report: DeploymentReport): string[] {
  const { disk, ignition } = report
  return [
    '',
    `Read back from the disk of ${report.node}`,
    `  disk       ${disk.file} (${sizeText(disk.size)})`,
    `  table      ${disk.table ?? 'none'}${disk.guid === null ? '' : `, ${disk.guid}`}`,
    ...report.partitions.map(
      ({ number, name, filesystem, label, offset, length }) =>
        `    ${number}  ${(name ?? '').padEnd(12)} ${(filesystem ?? '-').padEnd(5)} ${(label ?? '-').padEnd(11)} ` +
        `${sizeText(length).padStart(9)} at ${sizeText(offset)}`,
    ),
    ...(ignition === null ? ['  Ignition   none'] : ignitionLines(ignition)),
    ...wrapWords(report.kernel_arguments, 81).map(
      (line, at) => `  ${(at === 0 ? 'arguments' : '').padEnd(9)}  ${line}`,
    ),
    ...(report.installer === undefined ? [] : [`  installer  ${report.installer}`]),
    ...(report.confinement === undefined ? [] : [`  confined   ${report.confinement}`]),
    `  time       ${STAGES.filter((stage) => stage in report.seconds)
      .map((stage) => `${stage} ${report.seconds[stage]!.toFixed(2)} s`)
      .join(', ')}`,
    '',
    ...report.checks.map(({ what, ok, found }) => `  ${ok ? '✓' : '✗'} ${what}: ${found}`),
    '',
    report.ok ? 'The disk matches the request.' : 'The disk does NOT match the request.',
  ]
}

function ignitionLines(ignition: NonNullable<DeploymentReport['ignition']>): string[] {
  const { version, sha256, mode, hostname, users, files, units } = ignition
  return [
    `  Ignition   version ${version}, mode ${mode}, sha256 ${sha256.slice(0, 16)}…`,
    ...(hostname === null ? [] : [`    hostname ${hostname}`]),
    ...users.flatMap(({ name, ssh_key_fingerprints: keys }) => [
      `    user ${name}`,
      ...keys.map((key) => `      key ${key}`),
    ]),
    ...files.map((path) => `    file ${path}`),
    ...units.map((name) => `    unit ${name}`),
  ]
}
