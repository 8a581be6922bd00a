import { describe, expect, test } from 'vitest'
import { systemClock } from '../../runtime/index.js'
import { HttpClient } from './http-client.js'
import { beyondLoopback, proxiesOfVariables, proxyFor } from './proxy.js'

const PROXY = 'http://proxy.example:3128'
const through = (url: string, variables: Record<string, string>) => proxyFor(url, proxiesOfVariables(variables))

describe('the proxy of the environment', () => {
  test.each([
    ['http', { http_proxy: PROXY }],
    ['http', { HTTP_PROXY: PROXY }],
    ['http', { all_proxy: PROXY }],
    ['http', { ALL_PROXY: PROXY }],
    ['https', { https_proxy: PROXY }],
    ['https', { HTTPS_PROXY: PROXY }],
    ['https', { all_proxy: PROXY }],
    ['https', { ALL_PROXY: PROXY }],
    ['http', { http_proxy: PROXY, all_proxy: 'http://other.example' }],
    ['http', { http_proxy: '', HTTP_PROXY: PROXY }],
    ['http', { http_proxy: PROXY, HTTP_PROXY: 'http://other.example' }],
    ['https', { https_proxy: PROXY, HTTPS_PROXY: 'http://other.example' }],
    ['http', { http_proxy: 'proxy.example:3128' }],
    ['http', { http_proxy: PROXY, no_proxy: 'other.example,far' }],
  ])('a file by %s goes through it with %j', (scheme, variables) => {
    expect(through(`${scheme}://far.example/a`, variables as Record<string, string>)).toBe(PROXY)
  })

  test.each([
    ['http', {}],
    ['http', { https_proxy: PROXY }],
    ['https', { http_proxy: PROXY }],
    ['http', { http_proxy: PROXY, no_proxy: '*' }],
    ['http', { ALL_PROXY: PROXY, NO_PROXY: '.example' }],
    ['http', { http_proxy: PROXY, no_proxy: 'example' }],
    ['http', { HTTP_PROXY: PROXY, REQUEST_METHOD: 'GET' }],
  ])('a file by %s does not with %j', (scheme, variables) => {
    expect(through(`${scheme}://far.example/a`, variables as Record<string, string>)).toBeUndefined()
  })

  test('is not asked for what listens on this computer, where that is wanted', () => {
    const proxies = beyondLoopback(proxiesOfVariables({ http_proxy: PROXY, no_proxy: 'near.example' }))
    for (const host of ['127.0.0.1:8080', 'localhost', '[::1]', 'near.example'])
      expect(proxyFor(`http://${host}/a`, proxies)).toBeUndefined()
    expect(proxyFor('http://far.example/a', proxies)).toBe(PROXY)
  })

  test.each(['socks5://u:hunter2@proxy.example:1080', 'http://', 'http://a b'])('%s is none', async (named) => {
    const client = new HttpClient({ clock: systemClock(), proxies: { http: named } })
    const asked = client.get({ url: 'http://far.example/a', signal: new AbortController().signal })
    await expect(asked).rejects.toMatchObject({ code: 'bad-proxy', transient: false })
    await expect(asked).rejects.not.toThrow('hunter2')
  })
})
