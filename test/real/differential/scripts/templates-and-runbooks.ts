import { add, del, get, idOf, patch, post, remove, set, type Script } from '../script.js'

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
