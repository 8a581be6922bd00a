import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'

// Health check of the container: succeeds while it takes requests, with or without TLS. Arguments: port, and another path.

const port = process.env['IRONSTAGE_PORT'] ?? process.argv[2] ?? '6385'
const path = process.argv[3] ?? '/readyz'
const options = { host: '127.0.0.1', port, path, timeout: 3000, rejectUnauthorized: false }

const isAnswered = (request) =>
  new Promise((resolve) => {
    const sent = request(options, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    sent.on('error', () => resolve(false))
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')))
    sent.end()
  })

process.exitCode = (await isAnswered(requestHttp)) || (await isAnswered(requestHttps)) ? 0 : 1
