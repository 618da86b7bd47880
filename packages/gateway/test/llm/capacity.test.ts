import { describe, expect, it } from 'vitest'
import { createCapacity } from '../../src/llm/capacity.ts'

describe('room for requests', () => {
  it('is for so many of one, and one that leaves makes room', () => {
    const room = createCapacity(1000, 2)
    const first = room.enter('a', 1)
    room.enter('a', 1)
    expect(() => room.enter('a', 1)).toThrow('already in progress')
    room.enter('b', 1)
    first.leave()
    first.leave()
    room.enter('a', 1)
    expect(() => room.enter('a', 1)).toThrow('already in progress')
  })

  it('gives nobody more than half of it', () => {
    const room = createCapacity(1000, 100)
    room.enter('a', 400)
    expect(() => room.enter('a', 200)).toThrow('the gateway is busy')
    room.enter('b', 500)
    expect(() => room.enter('c', 200)).toThrow('the gateway is busy')
    room.enter('c', 100)
  })

  it('lets in what is large if nobody else is there', () => {
    const room = createCapacity(1000, 100)
    room.enter('a', 5000).leave()
    room.enter('b', 5000)
    expect(() => room.enter('a', 1)).toThrow('the gateway is busy')
  })

  it('goes by what a body turns out to be', () => {
    const room = createCapacity(1000, 100)
    const place = room.enter('a', 500)
    place.resize(10)
    room.enter('a', 400)
    expect(() => place.resize(200)).toThrow('the gateway is busy')
    place.leave()
    place.resize(900)
    room.enter('b', 500)
  })
})
