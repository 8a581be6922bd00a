import { DRIVER_INTERFACES, type DriverInterface, type NodeRecord, type PortRecord } from '../../base/wire/index.js'
import type { InterfaceValidation } from '../conductor/core/conductor.js'
import { bootProblem, inspectProblem, powerProblem, describeUnsupported } from './requirements.js'

/** `GET /v1/nodes/X/validate`, interface by interface. */
export function validateInterfaces(
  node: Readonly<NodeRecord>,
  ports: readonly PortRecord[],
  deployProblem: (node: Readonly<NodeRecord>) => string | undefined,
  inspection: { requireManagedBoot: boolean } = { requireManagedBoot: false },
): InterfaceValidation {
  return Object.fromEntries(
    DRIVER_INTERFACES.map((name) => {
      const reason = name === 'deploy' ? deployProblem(node) : interfaceProblemOf(name, node, ports, inspection)
      return [name, reason === undefined ? { result: true } : { result: false, reason }]
    }),
  ) as InterfaceValidation
}

function interfaceProblemOf(
  name: Exclude<DriverInterface, 'deploy'>,
  node: Readonly<NodeRecord>,
  ports: readonly PortRecord[],
  inspection: { requireManagedBoot: boolean },
): string | undefined {
  switch (name) {
    case 'boot':
      return bootProblem(node, ports)
    case 'inspect':
      return inspectProblem(node, inspection)
    case 'management':
    case 'power':
      return powerProblem(node)
    case 'bios':
    case 'console':
    case 'firmware':
    case 'raid':
    case 'rescue':
    case 'vendor':
      return node[`${name}_interface`].startsWith('no-') ? describeUnsupported(node, name) : undefined
    case 'network':
    case 'storage':
      return undefined
  }
}
