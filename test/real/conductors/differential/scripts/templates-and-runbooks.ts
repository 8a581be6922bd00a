import { add, away, del, enrol, FAKES, get, idOf, led, patch, post, put, remove, set, verb } from '../script.js'
import type { Script } from '../script.js'

const step = { interface: 'deploy', step: 'erase_devices', args: {}, priority: 10 }
const templateBodies = (name: string): unknown[] => [
  {},
  { name },
  { name, steps: [] },
  { name, steps: [{}] },
  { name, steps: [{ ...step, interface: 'nonsense' }] },
  { name, steps: [{ ...step, priority: -1 }] },
  { name, steps: [{ ...step, priority: 'x' }] },
  { name, steps: [{ ...step, args: 'x' }] },
  { name, steps: [{ ...step, nonsense: 1 }] },
  { name, steps: [step, step] },
  { name: 'bad-name', steps: [step] },
  { name: 7, steps: [step] },
  { name, steps: [step], extra: 'x' },
  { name, steps: [step], nonsense: 1 },
]

export function deployTemplates(): Script {
  const at = `/v1/deploy_templates/${idOf('template')}`
  return {
    name: 'deploy templates',
    calls: [
      ...templateBodies('CUSTOM_T').map((body) => post('/v1/deploy_templates', body)),
      post('/v1/deploy_templates', { name: 'CUSTOM_T', uuid: idOf('template'), steps: [step], extra: { a: 1 } }),
      post('/v1/deploy_templates', { name: 'CUSTOM_T', steps: [step] }),
      ...['', '?detail=true', '?fields=name', '?fields=nonsense', '?limit=1', '?sort_key=name', '?sort_key=steps'].map(
        (query) => get(`/v1/deploy_templates${query}`),
      ),
      get(at),
      get('/v1/deploy_templates/CUSTOM_T?fields=name,steps'),
      get('/v1/deploy_templates/none'),
      get(at, '1.54'),
      patch(at, [set('/name', 'CUSTOM_U')]),
      patch(at, [set('/name', 'bad-name')]),
      patch(at, [remove('/name')]),
      patch(at, [set('/steps/0/priority', 20)]),
      patch(at, [set('/steps/0/priority', 'x')]),
      patch(at, [add('/steps/-', { ...step, step: 'other' })]),
      patch(at, [remove('/steps/1')]),
      patch(at, [remove('/steps')]),
      patch(at, [set('/steps', [])]),
      patch(at, [set('/uuid', 'x')]),
      patch(at, [add('/extra/b', 1)]),
      patch(at, [set('/nonsense', 1)]),
      get(at),
      del(at),
      del(at),
    ],
  }
}

export function runbooks(): Script {
  const at = `/v1/runbooks/${idOf('runbook')}`
  const { priority: _, ...plain } = step
  const ordered = { ...plain, order: 1 }
  return {
    name: 'runbooks',
    calls: [
      ...templateBodies('CUSTOM_R').map((body) => post('/v1/runbooks', body)),
      post('/v1/runbooks', { name: 'CUSTOM_R', steps: [{ ...ordered, order: -1 }] }),
      post('/v1/runbooks', { name: 'CUSTOM_R', steps: [plain] }),
      post('/v1/runbooks', { name: 'CUSTOM_R', uuid: idOf('runbook'), steps: [ordered], extra: { a: 1 } }),
      post('/v1/runbooks', { name: 'CUSTOM_R', steps: [ordered] }),
      ...['', '?detail=true', '?fields=name', '?fields=nonsense', '?limit=1', '?sort_key=name', '?public=true'].map(
        (query) => get(`/v1/runbooks${query}`),
      ),
      get(at),
      get('/v1/runbooks/CUSTOM_R?fields=name,steps'),
      get('/v1/runbooks/none'),
      get(at, '1.91'),
      patch(at, [set('/name', 'CUSTOM_S')]),
      patch(at, [set('/public', true)]),
      patch(at, [set('/owner', 'me')]),
      patch(at, [set('/public', false)]),
      patch(at, [set('/owner', 'me')]),
      patch(at, [set('/steps/0/order', 2)]),
      patch(at, [set('/description', 'x')]),
      patch(at, [set('/nonsense', 1)]),
      get(at),
      del(at),
      del(at),
    ],
  }
}

/** Templates and runbooks at work, on nodes where nothing needs an agent. */
export function steps(): Script[] {
  const apply = { interface: 'bios', step: 'apply_configuration', args: { settings: [] } }
  const create = { interface: 'raid', step: 'create_configuration', args: {} }
  const made = (name: string, template: string, steps: readonly unknown[]): Script => {
    const node = idOf(name)
    return {
      name: `a deployment with ${name}`,
      calls: [
        enrol(name, FAKES),
        { ...post('/v1/deploy_templates', { name: template, uuid: idOf(template), steps }), must: 201 },
        led(node, 'manage'),
        led(node, 'provide'),
        // A trait that the node has not is no template's.
        patch(`/v1/nodes/${node}`, [add('/instance_info/traits', [template])]),
        verb(node, 'active'),
        put(`/v1/nodes/${node}/traits`, { traits: [template, 'CUSTOM_OTHER'] }),
        get(`/v1/nodes/${node}/validate`),
        verb(node, 'active'),
        verb(node, 'deleted'),
        get(`/v1/nodes/${node}?fields=instance_info,driver_internal_info,provision_state,last_error`),
        get(`/v1/nodes/${node}/history?detail=true`),
        del(`/v1/deploy_templates/${idOf(template)}`),
        ...away(name),
      ],
    }
  }
  const name = 'by-runbook'
  const node = idOf(name)
  const book = (more: object) => ({ steps: [{ ...create, order: 1 }], ...more })
  return [
    made('template-steps', 'CUSTOM_STEPS', [{ ...apply, priority: 120 }]),
    made('template-none', 'CUSTOM_NONE_SUCH', [{ interface: 'deploy', step: 'none', args: {}, priority: 120 }]),
    made('template-off', 'CUSTOM_OFF', [{ ...create, priority: 0 }]),
    {
      name: 'cleaning and servicing by runbook',
      calls: [
        enrol(name, FAKES),
        led(node, 'manage'),
        { ...post('/v1/runbooks', book({ name: 'CUSTOM_BOOK', uuid: idOf('book') })), must: 201 },
        verb(node, 'clean', { runbook: 'CUSTOM_BOOK' }),
        put(`/v1/nodes/${node}/traits`, { traits: ['CUSTOM_BOOK'] }),
        verb(node, 'clean', { runbook: 'CUSTOM_BOOK' }),
        verb(node, 'manage'),
        verb(node, 'clean', { runbook: idOf('book'), clean_steps: [create] }),
        verb(node, 'clean', { runbook: 'none' }),
        verb(node, 'clean', { runbook: 'CUSTOM_BOOK', disable_ramdisk: true }),
        verb(node, 'manage'),
        put(`/v1/nodes/${node}/states/provision`, { target: 'clean', runbook: 'CUSTOM_BOOK' }, '1.91'),
        patch(`/v1/runbooks/${idOf('book')}`, [add('/disable_ramdisk', true)]),
        verb(node, 'clean', { runbook: 'CUSTOM_BOOK' }),
        verb(node, 'manage'),
        verb(node, 'provide', { runbook: 'CUSTOM_BOOK' }),
        led(node, 'provide'),
        led(node, 'active'),
        verb(node, 'service', { runbook: 'CUSTOM_BOOK' }),
        get(`/v1/nodes/${node}/history?detail=true`),
        del(`/v1/runbooks/${idOf('book')}`),
        ...away(name),
      ],
    },
    {
      name: 'what the conductor does itself as a step',
      calls: [
        enrol('reserved-steps', FAKES),
        led(idOf('reserved-steps'), 'manage'),
        ...[
          [{ interface: 'power', step: 'power_on' }],
          [{ interface: 'power', step: 'reboot' }],
          [{ step: 'wait', args: { seconds: 'x' } }],
          [{ step: 'nonsense' }],
          [{ ...create, execute_on_child_nodes: true, limit_child_node_execution: ['x'] }],
          [{ ...create, execute_on_child_nodes: true }],
        ].map((clean_steps) => [
          verb(idOf('reserved-steps'), 'clean', { clean_steps }),
          verb(idOf('reserved-steps'), 'manage'),
        ]),
        ...away('reserved-steps'),
      ],
    },
  ]
}
