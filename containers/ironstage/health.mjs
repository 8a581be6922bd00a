import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'

// Health check of the container: succeeds once Ironic's API answers, with or without TLS.

const port = process.env['IRONSTAGE_PORT'] ?? process.argv[2] ?? '6385'
const options = { host: '127.0.0.1', port, path: '/', timeout: 3000, rejectUnauthorized: false }

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
