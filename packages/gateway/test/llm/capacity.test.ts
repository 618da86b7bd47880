import { describe, expect, it } from 'vitest'
import { createCapacity } from '../../src/llm/capacity.ts'

describe('the capacity for requests', () => {
  it('is limited per owner, and is freed when a request ends', () => {
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

  it('gives one owner at most half of it', () => {
    const room = createCapacity(1000, 100)
    room.enter('a', 400)
    expect(() => room.enter('a', 200)).toThrow('the gateway is busy')
    room.enter('b', 500)
    expect(() => room.enter('c', 200)).toThrow('the gateway is busy')
    room.enter('c', 100)
  })

  it('admits a large request if there is no other', () => {
    const room = createCapacity(1000, 100)
    room.enter('a', 5000).leave()
    room.enter('b', 5000)
    expect(() => room.enter('a', 1)).toThrow('the gateway is busy')
  })

  it('uses the actual size of a body', () => {
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
