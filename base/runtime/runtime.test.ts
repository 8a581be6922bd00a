import { describe, expect, test } from 'vitest'
import { during, errorChain, userError, UserError } from './error.js'
import { inParallel } from './in-parallel.js'
import { Mutex, openInScope, Scope, ScopeClosed } from './lifetime.js'
import { Probe } from './probe.js'
import { elapsedText, sizeText } from './quantity.js'
import { keyedRandom, seededRandom, urlSafeToken, randomUuid } from './random.js'
import { systemRandom } from './system-random.js'

describe('randomness', () => {
  test('a seed replays', () => {
    const draw = (seed: number) => {
      const random = seededRandom(seed)
      return [randomUuid(random), random.next(), urlSafeToken(random)]
    }
    expect(draw(7)).toEqual(draw(7))
    expect(draw(7)).not.toEqual(draw(8))
  })

  test.each([
    ['seeded', seededRandom(1)],
    ['keyed', keyedRandom('key')],
    ['system', systemRandom],
  ])('%s: well-formed ids and tokens', (_, random) => {
    expect(randomUuid(random)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(urlSafeToken(random)).toMatch(/^[\w-]{43}$/)
    expect(random.next()).toBeLessThan(1)
  })
})

describe('a sequence by a key', () => {
  test('continues from a place, in whatever lengths it is drawn, and another key has another one', () => {
    const whole = keyedRandom('key')
    const parts = keyedRandom('key')
    const first = whole.bytes(100)
    expect(Buffer.concat([parts.bytes(1), parts.bytes(31), parts.bytes(68)])).toEqual(Buffer.from(first))
    const place = whole.take()
    const next = whole.next()
    parts.restore([0])
    expect(parts.bytes(100)).toEqual(first)
    parts.restore(place)
    expect(parts.next()).toBe(next)
    expect(keyedRandom('other').bytes(100)).not.toEqual(first)
  })
})

describe('errors', () => {
  test('read as a causal chain, and the user error in it is found', async () => {
    const cause = new UserError('state-folder', 'there is no image at x', { remedy: 'give --image' })
    const failed = during('installing', () => during('opening x', () => Promise.reject(cause)))
    const error: unknown = await failed.catch((e: unknown) => e)
    expect(errorChain(error)).toEqual(['installing', 'opening x', 'there is no image at x'])
    expect(userError(error)).toBe(cause)
    expect(userError(new Error('other'))).toBeUndefined()
  })

  test('do not say a cause again that one of them has put into words', () => {
    const system = new Error('connect ECONNREFUSED 127.0.0.1:1')
    const explained = Object.assign(new Error('nothing listens at 127.0.0.1:1', { cause: system }), { saysCause: true })
    expect(errorChain(new Error('no answer', { cause: explained }))).toEqual([
      'no answer',
      'nothing listens at 127.0.0.1:1',
    ])
  })
})

describe('a scope', () => {
  test('aborts first, closes in reverse order, waits for what it spawned', async () => {
    const order: string[] = []
    const scope = new Scope()
    scope.onClose(() => order.push('first'))
    scope.onClose(() => order.push('second'))
    scope.spawn(
      async (signal) => {
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      },
      () => order.push('reported'),
    )
    await scope[Symbol.asyncDispose]()
    await scope[Symbol.asyncDispose]()
    expect(order).toEqual(['second', 'first'])
    expect(scope.signal.reason).toBeInstanceOf(ScopeClosed)
  })

  test('closes everything even when something fails to', async () => {
    let closed = false
    const scope = new Scope()
    scope.onClose(() => (closed = true))
    scope.onClose(() => Promise.reject(new Error('stuck')))
    await expect(scope[Symbol.asyncDispose]()).rejects.toThrow('stuck')
    expect(closed).toBe(true)
  })

  test('parts are closed again when opening fails, and stay open when it succeeds', async () => {
    const closed: string[] = []
    const part = (name: string) => ({ [Symbol.dispose]: () => void closed.push(name) })
    const broken = openInScope((scope) => {
      scope.use(part('of what is broken'))
      return Promise.reject(new Error('broken'))
    })
    await expect(broken).rejects.toThrow('broken')
    await openInScope((scope) => Promise.resolve(scope.use(part('of what is whole'))))
    expect(closed).toEqual(['of what is broken'])
  })

  test('drops the signal of work in the background that has ended, and stays with one that others have', async () => {
    const scope = new Scope()
    const signals: AbortSignal[] = []
    const work = (): Promise<void> =>
      new Promise((resolve) => {
        scope.spawn(
          (signal) => {
            signals.push(signal)
            return Promise.resolve()
          },
          () => {},
        )
        setImmediate(resolve)
      })
    await work()
    await work()
    expect(signals[1]).not.toBe(signals[0])
    const { signal } = scope
    await work()
    await work()
    expect(signals.slice(2)).toEqual([signal, signal])
    expect(signals[3]).toBe(signal)
    await scope[Symbol.asyncDispose]()
    expect([signal.aborted, scope.isClosed]).toEqual([true, true])
    expect(() => scope.throwIfClosed()).toThrow(ScopeClosed)
  })

  test('reports what fails in the background', async () => {
    const scope = new Scope()
    const failed = new Promise((resolve) => scope.spawn(() => Promise.reject(new Error('broken')), resolve))
    expect(await failed).toMatchObject({ message: 'broken' })
  })
})

test('a mutex runs one piece of work at a time, also after a failure', async () => {
  const mutex = new Mutex()
  const order: string[] = []
  const slow = mutex.run(async () => {
    await new Promise((resolve) => setImmediate(resolve))
    order.push('slow')
    throw new Error('failed')
  })
  const quick = mutex.run(() => order.push('quick'))
  await expect(slow).rejects.toThrow('failed')
  await quick
  expect(order).toEqual(['slow', 'quick'])
})

describe('the probe', () => {
  test('interceptors nest, can change the outcome, and leave when disposed', async () => {
    const probe = new Probe()
    const seen: string[] = []
    const first = probe.attach(async (point, next) => {
      seen.push(`first ${point.kind}`)
      return next()
    })
    using _second = probe.attach((point, next) =>
      point['url'] === '/broken' ? Promise.reject(new Error('fault')) : next(),
    )
    const [fine, broken] = ['/fine', '/broken'].map((url) => ({ kind: 'exchange', url }))
    expect(await probe.around(fine!, () => Promise.resolve(1))).toBe(1)
    await expect(probe.around(broken!, () => Promise.resolve(1))).rejects.toThrow('fault')
    first[Symbol.dispose]()
    await probe.around({ kind: 'command' }, () => Promise.resolve(2))
    expect(seen).toEqual(['first exchange', 'first exchange'])
  })

  test('a failing observer of a report is ignored', async () => {
    const probe = new Probe()
    using _ = probe.attach(() => Promise.reject(new Error('observer failed')))
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    probe.report({ kind: 'node' })
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })
})

test('work on each runs some at a time, in order', async () => {
  let now = 0
  let most = 0
  const began: number[] = []
  await inParallel([1, 2, 3, 4, 5], 2, async (one) => {
    began.push(one)
    most = Math.max(most, ++now)
    await Promise.resolve()
    now--
  })
  expect([most, began]).toEqual([2, [1, 2, 3, 4, 5]])
})

test('after a rejection no other work is started, and what is in progress is waited for', async () => {
  const ended: number[] = []
  const work = inParallel([1, 2, 3, 4], 2, async (one) => {
    if (one === 1) throw new Error('the first fails')
    await new Promise((resolve) => setTimeout(resolve, 5))
    ended.push(one)
  })
  await expect(work).rejects.toThrow('the first fails')
  expect(ended).toEqual([2])
})

test.each([
  [12.4, '12 ms'],
  [1234, '1.2 s'],
  [59_949, '59.9 s'],
  [59_990, '1m00s'],
  [185_000, '3m05s'],
  [3_720_000, '1h02m'],
])('%d ms are shown as %s', (ms, text) => {
  expect(elapsedText(ms)).toBe(text)
})

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1 KiB'],
  [1.5 * 2 ** 30, '1.5 GiB'],
  [2 ** 52, '4096 TiB'],
])('%d bytes are shown as %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})
