# live_devices.sh - three builds of ONNX Runtime side by side: the one of this checkout, OpenVINO's of an older API version, and
# WebGPU's on SwiftShader, a GPU in software. Each is listed, really runs models, gives the right outputs and says honestly
# what it knows of the layers.
. "$ROOT/tests/cli/lib.sh"
export XDG_CONFIG_HOME=$PWD/config XDG_CACHE_HOME=$PWD/cache
openvino=$ROOT/.cache/onnxruntime-openvino/current webgpu=$ROOT/.cache/onnxruntime-webgpu/current
swiftshader=$ROOT/.cache/swiftshader
for folder in "$openvino" "$webgpu" "$swiftshader"; do
    [ -d "$folder" ] || skip "no ${folder#"$ROOT"/}: scripts/setup oracle fetches it"
done
[ -e "$ROOT/.cache/onnxruntime/current" ] || skip "no .cache/onnxruntime: scripts/setup fetches it"
unset ASSAY_ORT_LIBRARY ASSAY_WORKER
export LD_LIBRARY_PATH=$swiftshader${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} VK_ICD_FILENAMES=$swiftshader/vk_swiftshader_icd.json

device() { # device NAME MEMBER
    python3 - "$1" "$2" <<'P'
import json, sys
for device in json.load(open("out"))["devices"]:
    if device["name"] == sys.argv[1]:
        print(json.dumps(device[sys.argv[2]]).strip('"'))
P
}

# --- three builds, by --ort and by the list -------------------------------------------------------------
expect_exit 0 "$ASSAY" devices --ort "$openvino" --ort "$webgpu" --json
python3 "$ROOT/tests/schema_check.py" devices out || fail "devices --json"
expect_equal "$(json_get out '.builds[1].name')" openvino
expect_equal "$(json_get out '.builds[2].name')" webgpu
expect_equal "$(json_get out '.builds[1].version')" 1.24.1
expect_exit 0 "$ASSAY" devices --add-ort "ovn=$openvino" --add-ort "wgpu=$webgpu"
expect_exit 0 "$ASSAY" devices --json
for name in cpu ovn/cpu ovn/openvino:cpu wgpu/cpu wgpu/webgpu:0; do
    expect_equal "$(device $name available)" true
done
expect_equal "$(device wgpu/webgpu:0 class)" gpu
expect_equal "$(device wgpu/webgpu:0 software)" true
case $(device wgpu/webgpu:0 hardware) in SwiftShader*) ;; *) fail "$(device wgpu/webgpu:0 hardware)" ;; esac
expect_equal "$(device ovn/openvino:npu available)" false
case $(device ovn/openvino:npu reason) in *"NPU is not available"*) ;; *) fail "$(device ovn/openvino:npu reason)" ;; esac
# without the loader there is no second GPU, and the reason is said
(unset LD_LIBRARY_PATH VK_ICD_FILENAMES && "$ASSAY" devices --device wgpu/webgpu:0 --json >out 2>err) || fail "$(cat err)"
if [ "$(device wgpu/webgpu:0 available)" = false ]; then # a machine may have a loader and a GPU of its own
    case $(device wgpu/webgpu:0 reason) in *"WebGPU"*) ;; *) fail "$(device wgpu/webgpu:0 reason)" ;; esac
fi

# --- models really run on each --------------------------------------------------------------------------
"$ASSAY" make -o cfc.onnx cfc:units=32,outputs=4,batch=1
"$ASSAY" make -o squeeze.onnx squeezenet:image=64,batch=1
run() { # run DEVICE MODEL LAYERS VERSION
    expect_exit 0 "$ASSAY" run --device "$1" --iters 3 --warmup 1 --layers="$3" --json -q "$2"
    python3 "$ROOT/tests/schema_check.py" run out || fail "run on $1"
    expect_equal "$(json_get out '.trials[0].state')" ok
    expect_equal "$(json_get out '.trials[0].target.device')" "$1"
    expect_equal "$(json_get out '.trials[0].target.engine_version')" "$4"
    python3 - "$3" <<'P' || fail "layers of $1"
import json, sys
trial = json.load(open("out"))["trials"][0]
layers = trial["layers"]
if sys.argv[1] == "off":
    assert not layers, layers
else:
    # what is not known is null and says why: no time is made up
    assert layers
    for layer in layers:
        known = layer["state"] != "unavailable"
        assert known == (layer["time_us"] is not None) and (known or layer["note"]), layer
    assert trial["layer_timing"]["method"]
P
}
for layers in off auto; do
    for model in cfc.onnx squeeze.onnx; do
        run ovn/openvino:cpu $model $layers 1.24.1
        run ovn/cpu $model $layers 1.24.1
    done
    run wgpu/webgpu:0 cfc.onnx $layers 1.27.0
done
run wgpu/webgpu:0 squeeze.onnx off 1.27.0
expect_exit 3 "$ASSAY" run --device wgpu/openvino:cpu --iters 1 -q cfc.onnx
expect_has err "build has no OpenVINO provider"

# --- and what they compute is what the CPU provider computes --------------------------------------------
# (OpenVINO may choose bfloat16 where the processor has it)
ASSAY_ORT_LIBRARY=$ROOT/.cache/onnxruntime/current ASSAY_TEST_DEVICES="ovn/openvino:cpu wgpu/webgpu:0" \
    ASSAY_TEST_MODELS="$PWD/cfc.onnx $PWD/squeeze.onnx" ASSAY_TEST_DRIFT=0.02 ASSAY_TEST_TIMEOUT_S=200 \
    "$BUILD/tests/unit/test_device_outputs" || fail "outputs"
