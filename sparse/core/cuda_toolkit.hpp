// What toolkits before CUDA 13.0 call otherwise, in one place. Built and tested with 13.0; the branches for 12.4
// to 12.9 follow their documentation and have not been tried.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>

namespace krill::detail {

/// Adds a node that runs after others. 13.0 asks for data of the edges, too.
inline cudaError_t add_graph_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  std::size_t count, cudaGraphNodeParams* parameters) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddNode(node, graph, after, nullptr, count, parameters);
#else
  return cudaGraphAddNode(node, graph, after, count, parameters);
#endif
}

/// The graph that a stream is captured into, and the nodes that the next one will follow; *status says whether there is
/// one.
inline cudaError_t get_capture(cudaStream_t stream, cudaStreamCaptureStatus* status, cudaGraph_t* graph,
                               const cudaGraphNode_t** after, std::size_t* count) {
#if CUDART_VERSION >= 13000
  return cudaStreamGetCaptureInfo(stream, status, nullptr, graph, after, nullptr, count);
#else
  return cudaStreamGetCaptureInfo_v2(stream, status, nullptr, graph, after, count);
#endif
}

/// The device of a stream, which toolkits before 12.8 do not tell: then *device stays as it is.
inline cudaError_t get_stream_device([[maybe_unused]] cudaStream_t stream, [[maybe_unused]] int* device) {
#if CUDART_VERSION >= 12080
  return cudaStreamGetDevice(stream, device);
#else
  return cudaSuccess;
#endif
}

}  // namespace krill::detail
