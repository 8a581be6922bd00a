import type { JsonObject, NodeRecord, PortRecord } from '../../../base/wire/index.js'

const MASK = '******'
const SECRET_NAME_PATTERN = /pass|secret|token|snmp_auth_key|snmp_priv_key/i

/**
 * The node in commands to the agent: the database's record (ironic objects/node.py Node.as_dict), not the API's rendering,
 * in the order recorded.
 *
 * @param configdrive sends the config drive in clear; only `deploy.execute_deploy_step` does
 */
export function agentNode(node: Readonly<NodeRecord>, { configdrive }: { configdrive: boolean }): JsonObject {
  const { driver_info, driver_internal_info, instance_info, traits, created_at, updated_at, ...rest } = node
  const { id, uuid, name, chassis_id, instance_uuid, driver, ...more } = rest
  return {
    id,
    uuid,
    name,
    chassis_id,
    instance_uuid,
    driver,
    driver_info: maskAgentInfo(driver_info),
    driver_internal_info: maskAgentInfo(driver_internal_info),
    ...more,
    traits: { objects: traits.map((trait) => ({ trait })) },
    created_at,
    updated_at,
    instance_info: maskedInstance(instance_info, configdrive),
  }
}

export const agentPorts = (ports: readonly PortRecord[]): JsonObject[] =>
  ports.map(({ created_at, updated_at, ...port }) => ({ ...port, created_at, updated_at }))

function maskAgentInfo(info: JsonObject): JsonObject {
  const names = Object.keys(info).filter((name) => SECRET_NAME_PATTERN.test(name))
  return names.length === 0 ? info : { ...info, ...Object.fromEntries(names.map((name) => [name, MASK])) }
}

function maskedInstance(info: JsonObject, configdrive: boolean): JsonObject {
  const hidden = Object.keys(info).filter(
    (name) => (name === 'configdrive' && !configdrive) || (name !== 'configdrive' && SECRET_NAME_PATTERN.test(name)),
  )
  return hidden.length === 0 ? info : { ...info, ...Object.fromEntries(hidden.map((name) => [name, MASK])) }
}
