/* ort_abi.h - the part of ONNX Runtime's C ABI that assay uses, declared by us, so that the library
 * is opened at run time and no header of it is needed to build.
 *
 * The ABI: the exported OrtGetApiBase() gives a struct of two functions, GetApi(version) and
 * GetVersionString(). GetApi returns a table of function pointers that only ever grows at its end:
 * a function's index ("slot") never changes, and API version N has a known number of slots.
 * ASSAY__ORT_API below is the list of the functions we call: our name, slot, result, arguments. It
 * makes the members of struct assay__ort and fills them; a function that the library is too old for
 * is NULL there. Calls read ort->create_session(...).
 *
 * A function that returns struct OrtStatus * returns NULL on success; assay__ort_check() turns the
 * rest into an error. Limits: paths are char (not Windows). */
#ifndef ASSAY_ENGINE_ORT_ORT_ABI_H
#define ASSAY_ENGINE_ORT_ORT_ABI_H

#include <assay/error.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__ORT_API_NEWEST 30 /* the newest API version whose slots are known here */
#define ASSAY__ORT_API_OLDEST 12 /* has every function that is not marked optional below */

struct OrtAllocator;
struct OrtCUDAProviderOptionsV2;
struct OrtCustomOpDomain;
struct OrtEnv;
struct OrtEpAssignedNode;
struct OrtEpAssignedSubgraph;
struct OrtKernelContext;
struct OrtKernelInfo;
struct OrtKeyValuePairs;
struct OrtMemoryInfo;
struct OrtOpAttr;
struct OrtRunOptions;
struct OrtSession;
struct OrtSessionOptions;
struct OrtShapeInferContext;
struct OrtStatus;
struct OrtTensorRTProviderOptionsV2;
struct OrtTensorTypeAndShapeInfo;
struct OrtTypeInfo;
struct OrtValue;
struct OrtApi; /* the table, seen only through slots */
struct OrtCustomOp;

struct OrtApiBase {
    const struct OrtApi *(*GetApi)(uint32_t version);
    const char *(*GetVersionString)(void);
};

/* Enumerations travel as int; only the values that are used here are named. */
enum { /* OrtLoggingLevel */
       ASSAY__ORT_LOG_INFO = 1,
       ASSAY__ORT_LOG_WARNING = 2,
       ASSAY__ORT_LOG_ERROR = 3,
       ASSAY__ORT_LOG_FATAL = 4
};
enum { /* OrtErrorCode */
       ASSAY__ORT_FAIL = 1,
       ASSAY__ORT_NO_SUCHFILE = 3,
       ASSAY__ORT_INVALID_PROTOBUF = 7,
       ASSAY__ORT_NOT_IMPLEMENTED = 9
};
enum { /* GraphOptimizationLevel */
       ASSAY__ORT_OPT_NONE = 0,
       ASSAY__ORT_OPT_BASIC = 1,
       ASSAY__ORT_OPT_EXTENDED = 2,
       ASSAY__ORT_OPT_ALL = 99
};
enum { ASSAY__ORT_SEQUENTIAL = 0 };  /* ExecutionMode */
enum { ASSAY__ORT_TYPE_TENSOR = 1 }; /* ONNXType */
/* ONNXTensorElementDataType has the numbers of ONNX's TensorProto.DataType up to 23 and differs
 * after it: ONNX: FLOAT8E8M0 24, UINT2 25, INT2 26; ONNX Runtime: UINT2 24, INT2 25, FLOAT8E8M0 26.
 */
enum {
    ASSAY__ORT_ELEMENT_UNDEFINED = 0,
    ASSAY__ORT_ELEMENT_FLOAT = 1,
    ASSAY__ORT_ELEMENT_STRING = 8
};
enum { ASSAY__ORT_ALLOCATOR_ARENA = 1 }; /* OrtAllocatorType */
enum { ASSAY__ORT_MEM_DEFAULT = 0 };     /* OrtMemType */
enum { ASSAY__ORT_IO_REQUIRED = 0 };     /* OrtCustomOpInputOutputCharacteristic */
enum { ASSAY__ORT_ATTR_INT = 1 };        /* OrtOpAttrType */

typedef void assay__ort_log_fn(void *context, int severity, const char *category,
                               const char *log_id, const char *code_location, const char *message);

/* A custom operator. `version` is the API version it was written for (ort->api_version): the
 * library looks at members only when that version has them. The comments give the version a member
 * came with. A member that is not used is NULL where the library allows it. */
struct OrtCustomOp {
    uint32_t version;
    void *(*CreateKernel)(const struct OrtCustomOp *op, const struct OrtApi *api,
                          const struct OrtKernelInfo *info);
    const char *(*GetName)(const struct OrtCustomOp *op);
    const char *(*GetExecutionProviderType)(const struct OrtCustomOp *op); /* NULL result: CPU */
    int (*GetInputType)(const struct OrtCustomOp *op, size_t index);       /* UNDEFINED: any type */
    size_t (*GetInputTypeCount)(const struct OrtCustomOp *op);
    int (*GetOutputType)(const struct OrtCustomOp *op, size_t index);
    size_t (*GetOutputTypeCount)(const struct OrtCustomOp *op);
    void (*KernelCompute)(void *kernel, struct OrtKernelContext *context);
    void (*KernelDestroy)(void *kernel);
    int (*GetInputCharacteristic)(const struct OrtCustomOp *op, size_t index); /* 8 */
    int (*GetOutputCharacteristic)(const struct OrtCustomOp *op, size_t index);
    int (*GetInputMemoryType)(const struct OrtCustomOp *op, size_t index); /* 13 */
    int (*GetVariadicInputMinArity)(const struct OrtCustomOp *op); /* 14, also the next three */
    int (*GetVariadicInputHomogeneity)(const struct OrtCustomOp *op);
    int (*GetVariadicOutputMinArity)(const struct OrtCustomOp *op);
    int (*GetVariadicOutputHomogeneity)(const struct OrtCustomOp *op);
    struct OrtStatus *(*CreateKernelV2)(const struct OrtCustomOp *op, const struct OrtApi *api,
                                        const struct OrtKernelInfo *info, void **kernel); /* 16 */
    struct OrtStatus *(*KernelComputeV2)(void *kernel, struct OrtKernelContext *context);
    struct OrtStatus *(*InferOutputShapeFn)(
        const struct OrtCustomOp *op,
        struct OrtShapeInferContext *context); /* 17, also the next two */
    int (*GetStartVersion)(const struct OrtCustomOp *op);
    int (*GetEndVersion)(const struct OrtCustomOp *op);
    size_t (*GetMayInplace)(int **input_index, int **output_index); /* 18, also the rest */
    void (*ReleaseMayInplace)(int *input_index, int *output_index);
    size_t (*GetAliasMap)(int **input_index, int **output_index);
    void (*ReleaseAliasMap)(int *input_index, int *output_index);
};

/* X(name, slot, result, arguments) */
#define ASSAY__ORT_API(X)  \
    ASSAY__ORT_API_CORE(X) \
    ASSAY__ORT_API_VALUES(X) ASSAY__ORT_API_OPTIONS(X) ASSAY__ORT_API_KERNEL(X)

#define ASSAY__ORT_API_CORE(X)                                                                    \
    X(create_status, 0, struct OrtStatus *, (int code, const char *message))                      \
    X(get_error_code, 1, int, (const struct OrtStatus *))                                         \
    X(get_error_message, 2, const char *, (const struct OrtStatus *))                             \
    X(release_status, 93, void, (struct OrtStatus *))                                             \
    X(create_env_with_custom_logger, 4, struct OrtStatus *,                                       \
      (assay__ort_log_fn *, void *context, int severity, const char *log_id, struct OrtEnv **))   \
    X(disable_telemetry_events, 6, struct OrtStatus *, (const struct OrtEnv *))                   \
    X(release_env, 92, void, (struct OrtEnv *))                                                   \
    X(get_available_providers, 125, struct OrtStatus *, (char ***names, int *count))              \
    X(release_available_providers, 126, struct OrtStatus *, (char **names, int count))            \
    X(get_build_info_string, 254, const char *, (void)) /* optional: 15 */                        \
    X(create_session, 7, struct OrtStatus *,                                                      \
      (const struct OrtEnv *, const char *path, const struct OrtSessionOptions *,                 \
       struct OrtSession **))                                                                     \
    X(create_session_from_array, 8, struct OrtStatus *,                                           \
      (const struct OrtEnv *, const void *data, size_t size, const struct OrtSessionOptions *,    \
       struct OrtSession **))                                                                     \
    X(release_session, 95, void, (struct OrtSession *))                                           \
    X(session_get_input_count, 30, struct OrtStatus *, (const struct OrtSession *, size_t *))     \
    X(session_get_output_count, 31, struct OrtStatus *, (const struct OrtSession *, size_t *))    \
    X(session_get_input_type_info, 33, struct OrtStatus *,                                        \
      (const struct OrtSession *, size_t index, struct OrtTypeInfo **))                           \
    X(session_get_input_name, 36, struct OrtStatus *,                                             \
      (const struct OrtSession *, size_t index, struct OrtAllocator *, char **))                  \
    X(session_get_output_name, 37, struct OrtStatus *,                                            \
      (const struct OrtSession *, size_t index, struct OrtAllocator *, char **))                  \
    X(session_end_profiling, 110, struct OrtStatus *,                                             \
      (struct OrtSession *, struct OrtAllocator *, char **path))                                  \
    X(run, 9, struct OrtStatus *,                                                                 \
      (struct OrtSession *, const struct OrtRunOptions *, const char *const *input_names,         \
       const struct OrtValue *const *inputs, size_t input_count, const char *const *output_names, \
       size_t output_count, struct OrtValue **outputs))                                           \
    X(session_get_ep_graph_assignment_info, 407, struct OrtStatus *,                              \
      (const struct OrtSession *, const struct OrtEpAssignedSubgraph *const **,                   \
       size_t *count)) /* optional: 24, also the next five; what they give is the session's */    \
    X(ep_assigned_subgraph_get_ep_name, 408, struct OrtStatus *,                                  \
      (const struct OrtEpAssignedSubgraph *, const char **))                                      \
    X(ep_assigned_subgraph_get_nodes, 409, struct OrtStatus *,                                    \
      (const struct OrtEpAssignedSubgraph *, const struct OrtEpAssignedNode *const **,            \
       size_t *count))                                                                            \
    X(ep_assigned_node_get_name, 410, struct OrtStatus *,                                         \
      (const struct OrtEpAssignedNode *, const char **))                                          \
    X(ep_assigned_node_get_domain, 411, struct OrtStatus *,                                       \
      (const struct OrtEpAssignedNode *, const char **))                                          \
    X(ep_assigned_node_get_operator_type, 412, struct OrtStatus *,                                \
      (const struct OrtEpAssignedNode *, const char **))

#define ASSAY__ORT_API_VALUES(X)                                                                  \
    X(create_tensor, 48, struct OrtStatus *,                                                      \
      (struct OrtAllocator *, const int64_t *dims, size_t rank, int element, struct OrtValue **)) \
    X(create_tensor_with_data, 49, struct OrtStatus *,                                            \
      (const struct OrtMemoryInfo *, void *data, size_t size, const int64_t *dims, size_t rank,   \
       int element, struct OrtValue **))                                                          \
    X(is_tensor, 50, struct OrtStatus *, (const struct OrtValue *, int *))                        \
    X(has_value, 192, struct OrtStatus *, (const struct OrtValue *, int *))                       \
    X(get_tensor_mutable_data, 51, struct OrtStatus *, (struct OrtValue *, void **))              \
    X(fill_string_tensor, 52, struct OrtStatus *,                                                 \
      (struct OrtValue *, const char *const *strings, size_t count))                              \
    X(get_string_tensor_data_length, 53, struct OrtStatus *, (const struct OrtValue *, size_t *)) \
    X(get_string_tensor_content, 54, struct OrtStatus *,                                          \
      (const struct OrtValue *, void *text, size_t size, size_t *offsets, size_t count))          \
    X(cast_type_info_to_tensor_info, 55, struct OrtStatus *,                                      \
      (const struct OrtTypeInfo *, const struct OrtTensorTypeAndShapeInfo **))                    \
    X(get_tensor_element_type, 60, struct OrtStatus *,                                            \
      (const struct OrtTensorTypeAndShapeInfo *, int *))                                          \
    X(get_dimensions_count, 61, struct OrtStatus *,                                               \
      (const struct OrtTensorTypeAndShapeInfo *, size_t *))                                       \
    X(get_dimensions, 62, struct OrtStatus *,                                                     \
      (const struct OrtTensorTypeAndShapeInfo *, int64_t *dims, size_t rank))                     \
    X(get_symbolic_dimensions, 63, struct OrtStatus *,                                            \
      (const struct OrtTensorTypeAndShapeInfo *, const char **names, size_t rank))                \
    X(set_symbolic_dimensions, 271, struct OrtStatus *,                                           \
      (struct OrtTensorTypeAndShapeInfo *, const char **names, size_t rank)) /* optional: 17 */   \
    X(get_tensor_shape_element_count, 64, struct OrtStatus *,                                     \
      (const struct OrtTensorTypeAndShapeInfo *, size_t *))                                       \
    X(get_tensor_type_and_shape, 65, struct OrtStatus *,                                          \
      (const struct OrtValue *, struct OrtTensorTypeAndShapeInfo **))                             \
    X(get_value_type, 67, struct OrtStatus *, (const struct OrtValue *, int *))                   \
    X(get_value, 80, struct OrtStatus *,                                                          \
      (const struct OrtValue *, int index, struct OrtAllocator *, struct OrtValue **))            \
    X(get_value_count, 81, struct OrtStatus *, (const struct OrtValue *, size_t *))               \
    X(release_value, 96, void, (struct OrtValue *))                                               \
    X(release_type_info, 98, void, (struct OrtTypeInfo *))                                        \
    X(release_tensor_type_and_shape_info, 99, void, (struct OrtTensorTypeAndShapeInfo *))         \
    X(create_memory_info, 68, struct OrtStatus *,                                                 \
      (const char *name, int allocator_type, int id, int mem_type, struct OrtMemoryInfo **))      \
    X(create_cpu_memory_info, 69, struct OrtStatus *,                                             \
      (int allocator_type, int mem_type, struct OrtMemoryInfo **))                                \
    X(release_memory_info, 94, void, (struct OrtMemoryInfo *))                                    \
    X(allocator_free, 76, struct OrtStatus *, (struct OrtAllocator *, void *))                    \
    X(get_allocator_with_default_options, 78, struct OrtStatus *,                                 \
      (struct OrtAllocator **)) /* not released */                                                \
    X(create_allocator, 131, struct OrtStatus *,                                                  \
      (const struct OrtSession *, const struct OrtMemoryInfo *, struct OrtAllocator **))          \
    X(release_allocator, 132, void, (struct OrtAllocator *))                                      \
    X(allocator_get_stats, 319, struct OrtStatus *,                                               \
      (const struct OrtAllocator *, struct OrtKeyValuePairs **)) /* optional: 23 */               \
    X(get_key_value, 297, const char *,                                                           \
      (const struct OrtKeyValuePairs *, const char *key))              /* optional: 22 */         \
    X(release_key_value_pairs, 300, void, (struct OrtKeyValuePairs *)) /* optional: 22 */

#define ASSAY__ORT_API_OPTIONS(X)                                                                  \
    X(create_session_options, 10, struct OrtStatus *, (struct OrtSessionOptions **))               \
    X(release_session_options, 100, void, (struct OrtSessionOptions *))                            \
    X(set_optimized_model_file_path, 11, struct OrtStatus *,                                       \
      (struct OrtSessionOptions *, const char *path))                                              \
    X(set_session_execution_mode, 13, struct OrtStatus *, (struct OrtSessionOptions *, int mode))  \
    X(enable_profiling, 14, struct OrtStatus *,                                                    \
      (struct OrtSessionOptions *, const char *file_prefix))                                       \
    X(set_session_graph_optimization_level, 23, struct OrtStatus *,                                \
      (struct OrtSessionOptions *, int level))                                                     \
    X(set_intra_op_num_threads, 24, struct OrtStatus *, (struct OrtSessionOptions *, int threads)) \
    X(set_inter_op_num_threads, 25, struct OrtStatus *, (struct OrtSessionOptions *, int threads)) \
    X(add_free_dimension_override_by_name, 124, struct OrtStatus *,                                \
      (struct OrtSessionOptions *, const char *name, int64_t value))                               \
    X(add_session_config_entry, 130, struct OrtStatus *,                                           \
      (struct OrtSessionOptions *, const char *key, const char *value))                            \
    X(append_execution_provider, 216, struct OrtStatus *,                                          \
      (struct OrtSessionOptions *, const char *provider, const char *const *keys,                  \
       const char *const *values, size_t count))                                                   \
    X(create_cuda_provider_options, 205, struct OrtStatus *, (struct OrtCUDAProviderOptionsV2 **)) \
    X(update_cuda_provider_options, 206, struct OrtStatus *,                                       \
      (struct OrtCUDAProviderOptionsV2 *, const char *const *keys, const char *const *values,      \
       size_t count))                                                                              \
    X(release_cuda_provider_options, 208, void, (struct OrtCUDAProviderOptionsV2 *))               \
    X(append_execution_provider_cuda_v2, 204, struct OrtStatus *,                                  \
      (struct OrtSessionOptions *, const struct OrtCUDAProviderOptionsV2 *))                       \
    X(create_tensorrt_provider_options, 171, struct OrtStatus *,                                   \
      (struct OrtTensorRTProviderOptionsV2 **))                                                    \
    X(update_tensorrt_provider_options, 172, struct OrtStatus *,                                   \
      (struct OrtTensorRTProviderOptionsV2 *, const char *const *keys, const char *const *values,  \
       size_t count))                                                                              \
    X(release_tensorrt_provider_options, 174, void, (struct OrtTensorRTProviderOptionsV2 *))       \
    X(append_execution_provider_tensorrt_v2, 170, struct OrtStatus *,                              \
      (struct OrtSessionOptions *, const struct OrtTensorRTProviderOptionsV2 *))                   \
    X(append_execution_provider_openvino_v2, 275, struct OrtStatus *,                              \
      (struct OrtSessionOptions *, const char *const *keys, const char *const *values,             \
       size_t count)) /* optional: 17 */

#define ASSAY__ORT_API_KERNEL(X)                                                                \
    X(create_custom_op_domain, 26, struct OrtStatus *,                                          \
      (const char *domain, struct OrtCustomOpDomain **))                                        \
    X(custom_op_domain_add, 27, struct OrtStatus *,                                             \
      (struct OrtCustomOpDomain *, const struct OrtCustomOp *))                                 \
    X(add_custom_op_domain, 28, struct OrtStatus *,                                             \
      (struct OrtSessionOptions *, struct OrtCustomOpDomain *))                                 \
    X(release_custom_op_domain, 101, void, (struct OrtCustomOpDomain *))                        \
    X(kernel_info_get_attribute_int64, 86, struct OrtStatus *,                                  \
      (const struct OrtKernelInfo *, const char *name, int64_t *))                              \
    X(kernel_context_get_input, 90, struct OrtStatus *,                                         \
      (const struct OrtKernelContext *, size_t index, const struct OrtValue **))                \
    X(kernel_context_get_output, 91, struct OrtStatus *,                                        \
      (struct OrtKernelContext *, size_t index, const int64_t *dims, size_t rank,               \
       struct OrtValue **))                                                                     \
    X(shape_infer_context_get_input_count, 267, struct OrtStatus *,                             \
      (const struct OrtShapeInferContext *, size_t *)) /* optional: 17, also the next four */   \
    X(shape_infer_context_get_input_type_shape, 268, struct OrtStatus *,                        \
      (const struct OrtShapeInferContext *, size_t index, struct OrtTensorTypeAndShapeInfo **)) \
    X(shape_infer_context_get_attribute, 269, struct OrtStatus *,                               \
      (const struct OrtShapeInferContext *, const char *name, const struct OrtOpAttr **))       \
    X(shape_infer_context_set_output_type_shape, 270, struct OrtStatus *,                       \
      (const struct OrtShapeInferContext *, size_t index,                                       \
       const struct OrtTensorTypeAndShapeInfo *))                                               \
    X(read_op_attr, 272, struct OrtStatus *,                                                    \
      (const struct OrtOpAttr *, int type, void *data, size_t size, size_t *))

/* The functions of one loaded library. */
struct assay__ort {
    int api_version;     /* the version we asked for: min(the library's, ASSAY__ORT_API_NEWEST) */
    const char *version; /* "1.31.1"; the library's storage */
    const struct OrtApi *api; /* the raw table */
    char path[1024];          /* the file really loaded, "" unknown */
#define ASSAY__ORT_MEMBER(name, slot, result, arguments) result(*name) arguments;
    ASSAY__ORT_API(ASSAY__ORT_MEMBER)
#undef ASSAY__ORT_MEMBER
};

/** Finds and loads ONNX Runtime. `library` is a file or a folder, or NULL for the search of
 * doc/engines.md. The library stays loaded for the life of the process (its threads and statics do
 * not survive unloading). */
int assay__ort_load(const char *library, struct assay__ort *ort, struct assay_error *error);
/** The table from an API base (part of assay__ort_load; `name` is for messages). ASSAY_EUNSUPPORTED
 * when it is too old. */
int assay__ort_fill(struct assay__ort *ort, const struct OrtApiBase *base, const char *name,
                    struct assay_error *error);
/** What a person can use of the library's message: without source positions, C++ signatures and
 *  line ends. */
void assay__ort_message_trim(const char *message, char *out, size_t out_size);
/** 0 for NULL; else releases the status and sets *error to "<what>: <ONNX Runtime's message in one
 * line>". */
int assay__ort_check(const struct assay__ort *ort, struct OrtStatus *status,
                     struct assay_error *error, const char *what);
/** Releases a status whose outcome does not matter. */
void assay__ort_ignore(const struct assay__ort *ort, struct OrtStatus *status);

#endif
