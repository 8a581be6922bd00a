import { expect, expectTypeOf, test } from 'vitest'
import { scriptedTarget } from '../../test/kit/scripted-target.js'
import { stepContext } from '../../test/kit/step-context.js'
import { defineStep } from './define-step.js'
import type { BlockDevice } from '../hardware/block-devices.js'
import type { SchemaType } from './arg-types.js'

const noted = defineStep({
  name: 'noted',
  interface: 'deploy',
  on: ['deploy', 'clean', 'service'],
  args: {
    properties: {
      note: { type: 'string', description: 'What to note.' },
      times: { type: 'integer', default: 1, description: 'How often.' },
      level: { enum: ['low', 'high'], description: 'How loud.' },
      disks: { type: 'array', items: { type: 'string' }, description: 'Where.' },
      only: { anyOf: [{ type: 'string' }, { const: false }], description: 'A name, or false.' },
      limits: {
        type: 'object',
        properties: { low: { type: 'number' }, high: { type: 'number' } },
        required: ['low'],
        description: 'Between.',
      },
      free: { description: 'Anything.' },
    },
    required: ['note'],
  },
  run: ({ hardware }, args) => {
    expectTypeOf(args.note).toEqualTypeOf<string>()
    expectTypeOf(args.times).toEqualTypeOf<number>()
    expectTypeOf(args.level).toEqualTypeOf<'low' | 'high' | undefined>()
    expectTypeOf(args.disks).toEqualTypeOf<string[] | undefined>()
    expectTypeOf(args.only).toEqualTypeOf<string | false | undefined>()
    expectTypeOf(args.limits).toExtend<{ low: number; high?: number } | undefined>()
    expectTypeOf<NonNullable<typeof args.limits>['high']>().toEqualTypeOf<number | undefined>()
    expectTypeOf(args.free).toEqualTypeOf<unknown>()
    expectTypeOf(hardware.rootDevice).returns.resolves.toEqualTypeOf<BlockDevice>()
    // @ts-expect-error -- the schema has no such argument
    void args.nothing
    return Promise.resolve(args)
  },
})

test('args have the type and the values that the schema accepts', async () => {
  const context = stepContext(scriptedTarget({}))
  expect(await noted.run(context, { note: 'a', disks: ['sda'], only: null })).toEqual({
    note: 'a',
    disks: ['sda'],
    times: 1,
  })
  expect(await noted.run(context, { note: 'a', times: 3 })).toEqual({ note: 'a', times: 3 })
})

test('an explicit type takes precedence, and a step without arguments has none', () => {
  const explicit = defineStep<{ seconds: number }>({
    name: 'explicit',
    interface: 'deploy',
    on: ['clean'],
    args: { properties: { seconds: { type: 'number', description: 'How long.' } }, required: ['seconds'] },
    run: (_, args) => {
      expectTypeOf(args).toEqualTypeOf<{ seconds: number }>()
      return Promise.resolve()
    },
  })
  const none = defineStep({
    name: 'none',
    interface: 'deploy',
    on: ['clean'],
    run: (_, args) => {
      expectTypeOf(args).toEqualTypeOf<Record<never, never>>()
      return Promise.resolve()
    },
  })
  expect([explicit.name, none.name]).toEqual(['explicit', 'none'])
  expectTypeOf<SchemaType<{ type: ['string', 'null'] }>>().toEqualTypeOf<string | null>()
})

const complete = {
  name: 'x',
  interface: 'deploy',
  on: ['deploy'],
  run: () => Promise.resolve(),
}

test.each<[string, Record<string, unknown>, RegExp]>([
  ['no name', { name: undefined }, /^a step has no name$/],
  ['an empty name', { name: '' }, /^a step has no name$/],
  [
    'a name with a blank',
    { name: 'wipe it' },
    /^the step wipe it has a name with characters that requests cannot carry/,
  ],
  ['an interface that Ironic lacks', { interface: 'disk' }, /^the step x has the interface disk$/],
  ['no kind of work', { on: [] }, /^the step x does not list its kinds of work/],
  ['an unknown kind of work', { on: ['boot'] }, /^the step x does not list its kinds of work/],
  ['no run', { run: undefined }, /^the step x has no function run$/],
  ['args without properties', { args: {} }, /^the step x has args without properties$/],
  ['an argument undescribed', { args: { properties: { a: { type: 'string' } } } }, /does not describe its argument a$/],
  ['a requirement of nothing', { args: { properties: {}, required: ['a'] } }, /requires an argument a that/],
])('a definition with %s is refused with a remedy', (_, change, sentence) => {
  const definition = { ...complete, ...change } as unknown as Parameters<typeof defineStep>[0]
  expect(() => defineStep(definition)).toThrow(expect.objectContaining({ kind: 'usage', remedy: expect.any(String) }))
  expect(() => defineStep(definition)).toThrow(sentence)
})
