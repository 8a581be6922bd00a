import { del, get, idOf, patch, post, remove, set, type Script } from '../script.js'

export function inspectionRules(): Script {
  const at = `/v1/inspection_rules/${idOf('rule')}`
  const action = { op: 'set-attribute', args: { path: 'extra/a', value: 'b' } }
  const condition = { op: 'eq', args: { values: ['{inventory[system_vendor][manufacturer]}', 'x'] } }
  const bodies: unknown[] = [
    {},
    { actions: [] },
    { actions: [{ op: 'nonsense', args: {} }] },
    { actions: [{ op: 'fail', args: {} }] },
    { actions: [{ op: 'fail', args: { msg: 'no' } }], conditions: [{ op: 'nonsense', args: {} }] },
    { actions: [action], conditions: [{ op: 'eq' }] },
    { actions: [action], priority: 'x' },
    { actions: [action], priority: 100000 },
    { actions: [action], priority: -1 },
    { actions: [action], phase: 'nonsense' },
    { actions: [action], scope: 'x'.repeat(300) },
    { actions: [action], sensitive: 'x' },
    { actions: [action], nonsense: 1 },
    { actions: [action], conditions: [condition], uuid: idOf('rule'), description: 'words', priority: 5 },
    { actions: [action], uuid: idOf('rule') },
    { actions: [action], conditions: [], sensitive: true, uuid: idOf('rule 2') },
  ]
  return {
    name: 'inspection rules',
    calls: [
      ...bodies.map((body) => post('/v1/inspection_rules', body)),
      ...['', '?detail=true', '?fields=uuid,priority', '?fields=nonsense', '?limit=1', '?sort_key=priority'].map(
        (query) => get(`/v1/inspection_rules${query}`),
      ),
      get(at),
      get(at, '1.95'),
      get(`/v1/inspection_rules/${idOf('rule 2')}`),
      get('/v1/inspection_rules/none'),
      patch(at, [set('/description', 'other')]),
      patch(at, [set('/priority', 7)]),
      patch(at, [set('/priority', 'x')]),
      patch(at, [set('/actions', [])]),
      patch(at, [set('/actions/0/args/value', 'c')]),
      patch(at, [set('/uuid', 'x')]),
      patch(at, [set('/nonsense', 1)]),
      get(at),
      // Ironic trips.
      [patch(at, [remove('/conditions')])],
      del(at),
      del(at),
      [del('/v1/inspection_rules'), get('/v1/inspection_rules')],
    ],
  }
}
