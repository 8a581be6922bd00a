import type { Answer, Served } from './served.js'

/** All resources that links lead to from the root, by their paths. */
export async function crawled(bmc: Pick<Served, 'call'>): Promise<Map<string, Answer>> {
  const found = new Map<string, Answer>()
  const waiting = ['/redfish/v1/']
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const plain = path.split('#')[0]!
    if (found.has(plain)) continue
    const answer = await bmc.call('GET', plain)
    found.set(plain, answer)
    waiting.push(...linksIn(answer.document))
  }
  return found
}

function linksIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(linksIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const isLink = ['@odata.id', 'Uri', 'TaskMonitor'].includes(name)
    return isLink && typeof inner === 'string' ? [inner] : linksIn(inner)
  })
}
