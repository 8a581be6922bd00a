import { request } from 'node:http'

/** Sends what a browser lets any page send without asking the server first. `fetch` of Node takes no `Host`. */
export function pageCall(url: string, headers: { host?: string; origin?: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', headers: { 'content-type': 'text/plain', ...headers } }, (answer) => {
      answer.resume()
      resolve(answer.statusCode!)
    })
    call.once('error', reject)
    call.end('{}')
  })
}
