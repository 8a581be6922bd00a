import { away, enrol, FAKES, get, idOf, put, rested, verb, type Script } from '../script.js'

/** Requests for a state that say something that cannot be meant. */
export function malformedVerbs(): Script {
  const node = idOf('malformed')
  const other = idOf('malformed-active')
  const path = `/v1/nodes/${node}/states/provision`
  const step = { interface: 'deploy', step: 'erase_devices' }
  const bodies: unknown[] = [
    {},
    { target: null },
    { target: 7 },
    { target: '' },
    { target: 'clean' },
    { target: 'clean', clean_steps: [] },
    { target: 'clean', clean_steps: {} },
    { target: 'clean', clean_steps: 'x' },
    { target: 'clean', clean_steps: [{}] },
    { target: 'clean', clean_steps: [{ step: 'x' }] },
    { target: 'clean', clean_steps: [{ ...step, args: 'x' }] },
    { target: 'clean', clean_steps: [{ ...step, args: { 'not valid': 1 } }] },
    { target: 'clean', clean_steps: [{ ...step, priority: 7 }] },
    { target: 'clean', clean_steps: [{ ...step, interface: 'nonsense' }] },
    { target: 'clean', clean_steps: [{ ...step, nonsense: 1 }] },
    { target: 'clean', clean_steps: [step], disable_ramdisk: 'x' },
    { target: 'clean', clean_steps: [step], runbook: 'x' },
    { target: 'clean', runbook: 'none' },
    { target: 'manage', clean_steps: [step] },
    { target: 'manage', deploy_steps: [step] },
    { target: 'manage', service_steps: [step] },
    { target: 'manage', configdrive: 'x' },
    { target: 'manage', rescue_password: 'x' },
    { target: 'manage', disable_ramdisk: true },
    { target: 'manage', nonsense: 1 },
    { target: 'rescue' },
    { target: 'rescue', rescue_password: '' },
    { target: 'rescue', rescue_password: ' ' },
    { target: 'service' },
    { target: 'service', service_steps: [] },
  ]
  const active: unknown[] = [
    { target: 'active', deploy_steps: [{ ...step, args: {} }] },
    { target: 'active', deploy_steps: [{ ...step, priority: 'high', args: {} }] },
    { target: 'active', deploy_steps: [{ ...step, priority: -1, args: {} }] },
    { target: 'active', configdrive: 7 },
    { target: 'active', configdrive: { nonsense: 1 } },
    { target: 'active', configdrive: { meta_data: 'x' } },
    { target: 'active', configdrive: 'http://host/drive' },
    { target: 'active', configdrive: 'aGVsbG8=' },
    { target: 'active', deploy_steps: [] },
    { target: 'active', deploy_steps: {} },
    { target: 'active', deploy_steps: [{ ...step, priority: 0, args: {} }] },
    { target: 'active', clean_steps: [step] },
    { target: 'active', rescue_password: 'x' },
    { target: 'active', runbook: 'none' },
    { target: 'active', disable_ramdisk: true },
    { target: 'rebuild', deploy_steps: [{ ...step, args: {} }] },
    { target: 'deleted', configdrive: 'x' },
  ]
  return {
    name: 'malformed verbs',
    calls: [
      enrol('malformed', FAKES),
      verb(node, 'manage'),
      // Bodies that Ironic accepts are followed by the verb that leads back.
      ...bodies.map((body) => [rested(node, put(path, body)), verb(node, 'manage')]),
      enrol('malformed-active', FAKES),
      verb(other, 'manage'),
      verb(other, 'provide'),
      ...active.map((body) => [
        rested(other, put(`/v1/nodes/${other}/states/provision`, body)),
        get(`/v1/nodes/${other}?fields=instance_info`),
        verb(other, 'deleted'),
      ]),
      ...away('malformed-active'),
      put(path, '{'),
      put(path, ''),
      put('/v1/nodes/none/states/provision', { target: 'manage' }),
      ...['1.1', '1.3', '1.4', '1.5', '1.12', '1.14', '1.34', '1.36', '1.37', '1.69', '1.86'].flatMap((version) => [
        put(path, { target: 'rescue', rescue_password: 'x' }, version),
        put(path, { target: 'clean', clean_steps: [{}] }, version),
        put(path, { target: 'adopt', configdrive: 'x' }, version),
        put(path, { target: 'service', service_steps: [{}] }, version),
        put(path, { target: 'unhold' }, version),
      ]),
      get(`/v1/nodes/${node}`),
      ...away('malformed'),
    ],
  }
}
